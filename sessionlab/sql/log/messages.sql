-- The conversation in force at the end, with its text.
-- One row per part of a message in force, in order.
--
-- session_id   VARCHAR    session
-- agent_id     VARCHAR    agent whose conversation it is
-- source_id    BIGINT     file
-- position     BIGINT     index of the message in the conversation, 0-based
-- block        BIGINT     part of the message, 0-based
-- seq          BIGINT     entry that wrote it last
-- run          BIGINT     run of the entry that put it there
-- recorded_at  TIMESTAMP  when that was written down, UTC
-- role         VARCHAR    user, assistant, system, tool
-- voice        VARCHAR    who speaks; null where only a request tells of it
-- kind         VARCHAR    text, thinking, call, result, image, extra
-- name         VARCHAR    tool
-- call_id      VARCHAR    tool call
-- text         VARCHAR    the text
WITH introduced AS (
  SELECT session_id, source_id, message_ix, min_by(role, seq) AS role, min_by(voice, seq) AS voice
  FROM raw.entries
  WHERE message_ix IS NOT NULL
  GROUP BY session_id, source_id, message_ix
)
SELECT
  f.session_id,
  f.agent_id,
  f.source_id,
  f.position,
  b.block,
  f.seq,
  e.run,
  e.recorded_at,
  coalesce(p.role, i.role) AS role,
  i.voice,
  b.kind,
  b.name,
  b.call_id,
  b.text
FROM timeline._in_force f
JOIN raw.entries e ON e.session_id = f.session_id AND e.source_id = f.source_id AND e.seq = f.put_seq
LEFT JOIN introduced i
  ON i.session_id = f.session_id AND i.source_id = f.source_id AND i.message_ix = f.message_ix
LEFT JOIN pools p
  ON p.session_id = f.session_id AND p.source_id = f.source_id AND p.pool = 'message' AND p.ix = f.message_ix
LEFT JOIN blocks b
  ON b.session_id = f.session_id AND b.source_id = f.source_id AND b.pool = 'message' AND b.ix = f.message_ix
ORDER BY f.session_id, f.place, f.position, b.block NULLS FIRST
