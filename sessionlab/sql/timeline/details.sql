-- What a span of the timeline holds: the window of a call, its response, arguments, output.
-- One row per part of a body a span shows, in order. Ask for one session, and one span where it is long: a window is
-- spelled out for every call.
--
-- session_id      VARCHAR  session
-- span_id         VARCHAR  span of `timeline.spans`
-- part            VARCHAR  window, response, arguments, output, summary, stderr, error, message; of an agent probes
-- ix              BIGINT   order within the part, 0-based
-- label           VARCHAR  slot and band, role, who spoke, or tool
-- text            VARCHAR  the text
-- body_bytes      BIGINT   bytes of the text
-- original_bytes  BIGINT   bytes before clipping, where the text is only a tail
WITH shown AS (
  SELECT
    r.session_id, r.span_id, r.part, r.nth, b.block,
    concat(
      coalesce(r.label, p.role, b.kind),
      CASE WHEN b.kind NOT IN ('text', coalesce(r.label, p.role, b.kind)) THEN concat(' · ', b.kind) END,
      CASE WHEN b.name IS NOT NULL THEN concat(' ', b.name) END
    ) AS label,
    b.text, p.original_bytes
  FROM timeline._refs r
  JOIN blocks b
    ON b.session_id = r.session_id AND b.source_id = r.source_id AND b.pool = r.pool AND b.ix = r.ix
    AND b.block = coalesce(r.block, b.block)
  LEFT JOIN pools p ON p.session_id = r.session_id AND p.source_id = r.source_id AND p.pool = r.pool AND p.ix = r.ix
  WHERE b.text IS NOT NULL
  UNION ALL
  SELECT
    t.session_id, concat(t.source_id, '/', t.seq, '/', t.ordinal), 'arguments', 0, 0, t.name, t.arguments, NULL
  FROM raw.tool_calls t
  JOIN timeline._drawn o ON o.session_id = t.session_id AND o.source_id = t.source_id AND o.seq = t.seq
  WHERE t.arguments IS NOT NULL
  UNION ALL
  SELECT
    t.session_id, concat(t.source_id, '/', t.seq, '/', t.ordinal), 'output', 2, 0, 'facts', (e.detail->>'$.data'), NULL
  FROM raw.tool_calls t
  JOIN timeline._drawn o ON o.session_id = t.session_id AND o.source_id = t.source_id AND o.seq = t.seq
  JOIN raw.entries e ON e.session_id = t.session_id AND e.source_id = t.source_id AND e.seq = t.result_seq
  WHERE (e.detail->>'$.data') IS NOT NULL
  UNION ALL
  SELECT e.session_id, concat(e.source_id, '/', e.seq), 'error', 0, 0, e.reason, (e.detail->>'$.message'), NULL
  FROM raw.entries e
  JOIN timeline._drawn o ON o.session_id = e.session_id AND o.source_id = e.source_id AND o.seq = e.seq
  WHERE e.kind = 'model_error' AND (e.detail->>'$.message') IS NOT NULL
  UNION ALL
  SELECT
    e.session_id, concat('agent/', e.agent_id), 'probes', 0, 0, NULL,
    concat(
      count(*), ' read, ',
      coalesce(
        CAST(nullif(
          count(*) FILTER (WHERE e.status = 'interrupted' OR (e.detail->>'$.canceled') = 'true'), 0
        ) AS VARCHAR),
        'none'
      ),
      ' of them canceled'
    ),
    NULL
  FROM raw.entries e
  JOIN timeline._drawn o ON o.session_id = e.session_id AND o.source_id = e.source_id AND o.seq = e.seq
  WHERE e.kind = 'probe'
  GROUP BY e.session_id, e.agent_id
)
SELECT
  session_id,
  span_id,
  part,
  row_number() OVER (PARTITION BY session_id, span_id, part ORDER BY nth, block) - 1 AS ix,
  label,
  text,
  CAST(bit_length(text) / 8 AS BIGINT) AS body_bytes,
  original_bytes
FROM shown
ORDER BY session_id, span_id, part, ix
