-- Bytes of the message list each model call sent.
-- One row per model call that recorded its request. Lists are recorded as changes: the size of a list is the running
-- sum of what each change put in and took out, so no list is ever spelled out.
--
-- session_id  VARCHAR  session
-- source_id   BIGINT   file
-- seq         BIGINT   entry of the call
-- sent_bytes  BIGINT   bytes of the messages it sent
WITH put AS (
  SELECT w.session_id, w.source_id, w.agent_id, w.queue, w.position, w.seq, coalesce(p.body_bytes, 0) AS body_bytes
  FROM raw.windows w
  LEFT JOIN pools p
    ON p.session_id = w.session_id AND p.source_id = w.source_id AND p.pool = 'message' AND p.ix = w.message_ix
  WHERE w.queue <> 'frame' AND w.message_ix IS NOT NULL
),
lengths AS (
  SELECT
    *,
    lag(messages) OVER (PARTITION BY session_id, source_id, agent_id, queue ORDER BY from_seq) AS messages_before
  FROM timeline._lengths
  WHERE queue <> 'frame'
),
positions AS (
  SELECT DISTINCT session_id, source_id, agent_id, queue, position FROM put
),
events AS (
  SELECT * FROM put
  UNION ALL
  -- a list that got shorter lost every position from its new end to its old one
  SELECT n.session_id, n.source_id, n.agent_id, n.queue, p.position, n.from_seq, 0
  FROM lengths n
  JOIN positions p
    ON p.session_id = n.session_id AND p.source_id = n.source_id AND p.agent_id = n.agent_id AND p.queue = n.queue
    AND p.position >= n.messages AND p.position < n.messages_before
),
steps AS (
  SELECT
    session_id, source_id, agent_id, queue, seq,
    body_bytes - coalesce(lag(body_bytes) OVER (
      PARTITION BY session_id, source_id, agent_id, queue, position ORDER BY seq
    ), 0) AS more_bytes,
    false AS is_call
  FROM events
  UNION ALL
  SELECT session_id, source_id, agent_id, coalesce(purpose, 'agent'), seq, 0, true
  FROM raw.entries
  WHERE kind IN ('model_call', 'model_error')
),
running AS (
  SELECT
    session_id, source_id, seq, is_call,
    sum(more_bytes) OVER (
      PARTITION BY session_id, source_id, agent_id, queue ORDER BY seq, is_call
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS sent_bytes
  FROM steps
)
SELECT session_id, source_id, seq, CAST(sent_bytes AS BIGINT) AS sent_bytes
FROM running
WHERE is_call
