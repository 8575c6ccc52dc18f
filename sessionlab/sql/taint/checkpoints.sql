-- Taint checkpoints as a session recorded them.
-- One row per checkpoint, in order (mecha 9).
--
-- session_id  VARCHAR  session
-- source_id   BIGINT   file
-- agent_id    VARCHAR  agent
-- seq         BIGINT   entry
-- position    BIGINT   messages in the conversation when it was written: it can cover those before
-- private     BOOLEAN  private data had entered by here, merged with all earlier ones
-- untrusted   BOOLEAN  content from outside had entered by here, merged
-- armed       BOOLEAN  both
SELECT e.session_id, e.source_id, e.agent_id, e.seq, e.messages AS position, e.private, e.untrusted,
  e.private AND e.untrusted AS armed
FROM timeline._order o
JOIN raw.entries e ON e.session_id = o.session_id AND e.source_id = o.source_id AND e.seq = o.seq
WHERE e.kind = 'taint'
ORDER BY e.session_id, o.place
