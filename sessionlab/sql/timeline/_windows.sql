-- What each model call was shown.
-- One row per message in the window of a call: the items of the frame recorded for it, else the messages of its
-- request; where a format records one message at a time, those that entered since the agent's call before.
--
-- session_id     VARCHAR  session
-- source_id      BIGINT   file
-- span_id        VARCHAR  the call
-- queue          VARCHAR  frame; agent or compaction (a request); new (what entered since the call before)
-- position       BIGINT   position in the window; of what is new, on the order axis
-- message_ix     BIGINT   the message, in the source's message pool
-- slot           VARCHAR  frame: slot
-- band           VARCHAR  frame: source
-- retention      VARCHAR  frame: retention
-- pushed_turn    BIGINT   frame: turn it was pushed on
-- label          VARCHAR  frame: selector tag
-- region_offset  BIGINT   frame: first line of a paged view, 1-based
-- region_limit   BIGINT   frame: lines of it
-- voice          VARCHAR  new: who speaks
WITH calls AS (
  SELECT
    m.session_id, m.source_id, m.agent_id, m.span_id,
    CASE WHEN f.seq IS NOT NULL THEN 'frame' ELSE coalesce(m.purpose, 'agent') END AS queue,
    coalesce(f.seq, m.seq) AS at_seq
  FROM timeline._marks m
  LEFT JOIN (
    SELECT session_id, source_id, TRY_CAST((detail->>'$.attached_seq') AS BIGINT) AS call_seq, max(seq) AS seq
    FROM raw.entries
    WHERE kind = 'window'
    GROUP BY ALL
  ) f ON f.session_id = m.session_id AND f.source_id = m.source_id AND f.call_seq = m.seq
  WHERE m.kind IN ('model_call', 'model_error')
),
shown AS (
  SELECT
    c.session_id, c.source_id, c.span_id, c.queue, l.position, l.message_ix, l.slot, l.band, l.retention,
    l.pushed_turn, l.label, l.region_offset, l.region_limit
  FROM calls c
  JOIN timeline._lengths n
    ON n.session_id = c.session_id AND n.source_id = c.source_id AND n.agent_id = c.agent_id AND n.queue = c.queue
    AND n.from_seq <= c.at_seq AND c.at_seq < coalesce(n.until_seq, c.at_seq + 1)
  JOIN timeline._lists l
    ON l.session_id = c.session_id AND l.source_id = c.source_id AND l.agent_id = c.agent_id AND l.queue = c.queue
    AND l.from_seq <= c.at_seq AND c.at_seq < coalesce(l.until_seq, c.at_seq + 1) AND l.position < n.messages
  WHERE l.message_ix IS NOT NULL
),
heard AS (
  SELECT
    session_id, source_id, place, span_kind, message_ix, coalesce(voice, role) AS voice,
    first_value(
      CASE WHEN span_kind = 'model_call' AND span_id = concat(source_id, '/', seq) THEN span_id END IGNORE NULLS
    ) OVER (
      PARTITION BY session_id, agent_id ORDER BY place ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    ) AS next_span_id
  FROM timeline._marks
  WHERE message_ix IS NOT NULL
)
SELECT
  session_id, source_id, span_id, queue, position, message_ix, slot, band, retention, pushed_turn, label,
  region_offset, region_limit, CAST(NULL AS VARCHAR) AS voice
FROM shown
UNION ALL
SELECT session_id, source_id, next_span_id, 'new', place, message_ix, NULL, NULL, NULL, NULL, NULL, NULL, NULL, voice
FROM heard
WHERE next_span_id IS NOT NULL AND span_kind IS DISTINCT FROM 'model_call'
