-- How long each recorded message list is after each of its changes.
-- One row per entry that changed a list. A change writes the list anew from where it differs to its end, so its last
-- position tells the length; one that only shortens it says where it ends now.
--
-- session_id  VARCHAR  session
-- source_id   BIGINT   file
-- agent_id    VARCHAR  agent
-- queue       VARCHAR  agent, compaction or frame
-- from_seq    BIGINT   entry that changed it
-- until_seq   BIGINT   entry that changed it next; null: none
-- messages    BIGINT   messages it holds from then on
SELECT
  session_id,
  source_id,
  agent_id,
  queue,
  seq AS from_seq,
  lead(seq) OVER (PARTITION BY session_id, source_id, agent_id, queue ORDER BY seq) AS until_seq,
  coalesce(min(position) FILTER (WHERE message_ix IS NULL), max(position) + 1) AS messages
FROM raw.windows
GROUP BY session_id, source_id, agent_id, queue, seq
