-- The window of every model call, item by item.
-- One row per message in the window of a call. Ask for one session, and one span where it is long.
--
-- session_id     VARCHAR  session
-- span_id        VARCHAR  the call, as in `timeline.spans`
-- queue          VARCHAR  frame (typed items), agent or compaction (a request), new (entered since the call before)
-- position       BIGINT   position in the window, 0-based
-- source_id      BIGINT   file
-- message_ix     BIGINT   the message, in the source's message pool
-- role           VARCHAR  role of the message
-- slot           VARCHAR  frame: system, thread, context_usage
-- band           VARCHAR  frame: what the item is attributed to
-- retention      VARCHAR  frame: pinned or ephemeral
-- pushed_turn    BIGINT   frame: turn it was pushed on; 0 before the first
-- label          VARCHAR  frame: selector tag
-- region_offset  BIGINT   frame: first line of a paged view, 1-based
-- region_limit   BIGINT   frame: lines of it
-- body_bytes     BIGINT   bytes of the message
SELECT
  w.session_id,
  w.span_id,
  w.queue,
  row_number() OVER (PARTITION BY w.session_id, w.span_id, w.queue ORDER BY w.position) - 1 AS position,
  w.source_id,
  w.message_ix,
  p.role,
  w.slot,
  w.band,
  w.retention,
  w.pushed_turn,
  w.label,
  w.region_offset,
  w.region_limit,
  p.body_bytes
FROM timeline._windows w
LEFT JOIN pools p
  ON p.session_id = w.session_id AND p.source_id = w.source_id AND p.pool = 'message' AND p.ix = w.message_ix
ORDER BY w.session_id, w.span_id, w.queue, position
