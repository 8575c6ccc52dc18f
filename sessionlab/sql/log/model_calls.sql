-- Model calls, with what they were shown and how they ended.
-- One row per model call, failed ones included, in order.
--
-- session_id        VARCHAR    session
-- agent_id          VARCHAR    agent
-- span_id           VARCHAR    span of the call in `timeline.spans`
-- seq               BIGINT     entry of the call, its first where a reply stands on several lines
-- run               BIGINT     run it belongs to
-- turn              BIGINT     turn it is
-- purpose           VARCHAR    agent, compaction …; null when not told
-- is_forced         BOOLEAN    the model had to call the one tool offered; null when not told
-- model             VARCHAR    model called
-- served_by         VARCHAR    who served it
-- context_tokens    BIGINT     all input of the request
-- window_tokens     BIGINT     context window of the model
-- window_share      DOUBLE     the first as part of the second; null when either is not told
-- output_tokens     BIGINT     output, reasoning included
-- reasoning_tokens  BIGINT     part of it spent on reasoning
-- status            VARCHAR    ok, failed …; null unknown
-- reason            VARCHAR    finish reason, or kind of the error
-- begin_at          TIMESTAMP  when it began, UTC; null when untold
-- end_at            TIMESTAMP  when it ended
-- duration_ms       DOUBLE     as recorded, else from the entry before it to its last line; null when untold
WITH calls AS (
  SELECT
    m.session_id, m.agent_id, m.span_id, min_by(m.seq, m.place) AS seq, min(m.place) AS place, min(m.run) AS run,
    min(m.turn) AS turn, min(m.purpose) AS purpose,
    min_by((m.detail->>'$.shape'), m.place) = 'complete_requiring' AS is_forced,
    max_by(m.status, m.place) FILTER (WHERE m.status IS NOT NULL) AS status,
    max_by(m.reason, m.place) FILTER (WHERE m.reason IS NOT NULL) AS reason, min(m.begin_at) AS begin_at,
    max(m.end_at) AS end_at, max(e.duration_ms) AS duration_ms
  FROM timeline._marks m
  JOIN raw.entries e ON e.session_id = m.session_id AND e.source_id = m.source_id AND e.seq = m.seq
  WHERE NOT m.is_taken_over
    AND (m.span_kind IN ('model_call', 'model_error') OR (m.span_kind = 'compaction' AND m.purpose = 'compaction'))
  GROUP BY m.session_id, m.agent_id, m.span_id
)
SELECT
  c.session_id,
  c.agent_id,
  c.span_id,
  c.seq,
  c.run,
  c.turn,
  c.purpose,
  c.is_forced,
  u.model,
  u.served_by,
  u.context_tokens,
  u.window_tokens,
  CAST(u.context_tokens AS DOUBLE) / nullif(u.window_tokens, 0) AS window_share,
  u.output_tokens,
  u.reasoning_tokens,
  c.status,
  c.reason,
  c.begin_at,
  c.end_at,
  coalesce(CAST(c.duration_ms AS DOUBLE), date_diff('microsecond', c.begin_at, c.end_at) / 1000.0) AS duration_ms
FROM calls c
LEFT JOIN timeline._models u ON u.session_id = c.session_id AND u.span_id = c.span_id
ORDER BY c.session_id, c.place
