-- The taint that covers each message in force, or that none does.
-- One row per message in force at the end (mecha 9).
--
-- session_id      VARCHAR  session
-- source_id       BIGINT   file
-- agent_id        VARCHAR  agent whose conversation it is
-- position        BIGINT   index in the conversation, 0-based
-- message_ix      BIGINT   the message, in the source's message pool
-- put_seq         BIGINT   entry that put it there
-- seq             BIGINT   entry that wrote it last
-- place           BIGINT   position of put_seq on the order axis
-- run             BIGINT   run of the entry that put it there
-- covered_by_seq  BIGINT   the checkpoint that covers it: the next one after both the entry that wrote it last and the
--                          last rewrite; null: none, so what had entered is unknown
-- private         BOOLEAN  private data had entered by then; null unknown
-- untrusted       BOOLEAN  content from outside had entered by then; null unknown
WITH entries_on AS (
  SELECT
    session_id, source_id, agent_id, seq, run,
    min(CASE WHEN kind = 'taint' THEN seq END) OVER (
      PARTITION BY session_id, source_id, agent_id ORDER BY seq ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS next_taint_seq
  FROM raw.entries
)
SELECT
  f.session_id,
  f.source_id,
  f.agent_id,
  f.position,
  f.message_ix,
  f.put_seq,
  f.seq,
  f.place,
  p.run,
  t.seq AS covered_by_seq,
  t.private,
  t.untrusted
FROM timeline._in_force f
JOIN entries_on n
  ON n.session_id = f.session_id AND n.source_id = f.source_id AND n.agent_id = f.agent_id AND n.seq = f.last_change_seq
JOIN raw.entries p ON p.session_id = f.session_id AND p.source_id = f.source_id AND p.seq = f.put_seq
LEFT JOIN raw.entries t ON t.session_id = f.session_id AND t.source_id = f.source_id AND t.seq = n.next_taint_seq
