-- Each recorded message list as stretches: which message stood at a position, from which entry on, until which.
-- One row per change of a list that put a message somewhere; together with `timeline._lengths` a list at any moment.
--
-- session_id     VARCHAR  session
-- source_id      BIGINT   file
-- agent_id       VARCHAR  agent
-- queue          VARCHAR  agent, compaction (requests) or frame (typed items)
-- position       BIGINT   position in the list
-- from_seq       BIGINT   entry from which on it stands there
-- until_seq      BIGINT   entry from which on something else does; null: none
-- message_ix     BIGINT   the message, in the source's message pool; null: the list ended before here
-- slot           VARCHAR  frame: slot
-- band           VARCHAR  frame: source
-- retention      VARCHAR  frame: retention
-- pushed_turn    BIGINT   frame: turn it was pushed on
-- label          VARCHAR  frame: selector tag
-- region_offset  BIGINT   frame: first line of a paged view, 1-based
-- region_limit   BIGINT   frame: lines of it
SELECT
  w.session_id,
  w.source_id,
  w.agent_id,
  w.queue,
  w.position,
  w.seq AS from_seq,
  lead(w.seq) OVER (
    PARTITION BY w.session_id, w.source_id, w.agent_id, w.queue, w.position ORDER BY w.seq
  ) AS until_seq,
  w.message_ix,
  w.slot,
  w.band,
  w.retention,
  w.turn AS pushed_turn,
  w.label,
  w.region_offset,
  w.region_limit
FROM raw.windows w
