-- Which bodies belong to a span.
-- One row per body a span shows.
--
-- session_id  VARCHAR  session
-- source_id   BIGINT   file
-- span_id     VARCHAR  span
-- part        VARCHAR  window, response, output, summary, stderr or message
-- nth         BIGINT   order within the part
-- pool        VARCHAR  pool of the body
-- ix          BIGINT   its index in that pool
-- block       BIGINT   the one block shown; null: all
-- label       VARCHAR  what it is; null: the block says
WITH calls AS (
  SELECT
    t.session_id, t.source_id, concat(t.source_id, '/', t.seq, '/', t.ordinal) AS span_id, t.output_pool, t.output_ix,
    t.output_block, e.detail
  FROM raw.tool_calls t
  JOIN timeline._drawn o ON o.session_id = t.session_id AND o.source_id = t.source_id AND o.seq = t.seq
  LEFT JOIN raw.entries e ON e.session_id = t.session_id AND e.source_id = t.source_id AND e.seq = t.result_seq
)
SELECT
  session_id, source_id, span_id, 'window' AS part, position AS nth, 'message' AS pool, message_ix AS ix,
  CAST(NULL AS BIGINT) AS block,
  CASE
    WHEN queue = 'frame' THEN concat(
      slot, ' / ', band, CASE WHEN label IS NOT NULL THEN concat(' · ', label) END,
      CASE WHEN region_limit > 0
        THEN concat(', lines ', region_offset, '–', region_offset + region_limit - 1)
      END
    )
    WHEN queue = 'new' THEN concat('new · ', voice)
  END AS label
FROM timeline._windows
UNION ALL
SELECT
  l.session_id, l.source_id, concat(e.source_id, '/', e.seq), 'window', l.position, 'message', l.message_ix, NULL, NULL
FROM raw.entries e
JOIN timeline._drawn d ON d.session_id = e.session_id AND d.source_id = e.source_id AND d.seq = e.seq
JOIN timeline._lists l ON l.session_id = e.session_id AND l.source_id = e.source_id AND l.from_seq = e.seq
WHERE e.kind IN ('rewrite', 'compaction') AND l.message_ix IS NOT NULL
UNION ALL
SELECT
  session_id, source_id, span_id,
  CASE
    WHEN kind = 'command' THEN 'output'
    WHEN kind = 'model_call' OR span_kind = 'model_call' THEN 'response'
    ELSE 'message'
  END,
  place,
  CASE WHEN message_ix IS NOT NULL THEN 'message' WHEN kind = 'model_call' THEN 'response' ELSE 'text' END,
  coalesce(message_ix, output_ix), NULL, CASE WHEN kind = 'command' THEN 'stdout' END
FROM timeline._marks
WHERE span_kind IS NOT NULL AND coalesce(message_ix, output_ix) IS NOT NULL
UNION ALL
SELECT
  e.session_id, e.source_id, concat(e.source_id, '/', e.seq), 'stderr', 0, 'text',
  TRY_CAST((e.detail->>'$.stderr_ix') AS BIGINT), NULL, 'stderr'
FROM raw.entries e
JOIN timeline._drawn d ON d.session_id = e.session_id AND d.source_id = e.source_id AND d.seq = e.seq
WHERE e.kind = 'command' AND (e.detail->>'$.stderr_ix') IS NOT NULL
UNION ALL
SELECT session_id, source_id, span_id, 'output', 0, output_pool, output_ix, output_block, NULL
FROM calls
WHERE output_ix IS NOT NULL
UNION ALL
SELECT
  session_id, source_id, span_id, 'output', 1, 'text', TRY_CAST((detail->>'$.data_text_ix') AS BIGINT), NULL, 'data'
FROM calls
WHERE TRY_CAST((detail->>'$.data_text_ix') AS BIGINT) IS DISTINCT FROM output_ix
  AND (detail->>'$.data_text_ix') IS NOT NULL
UNION ALL
SELECT
  session_id, source_id, span_id, 'summary', 0, 'text', TRY_CAST((detail->>'$.summary_ix') AS BIGINT), NULL, 'summary'
FROM calls
WHERE (detail->>'$.summary_ix') IS NOT NULL
