-- Everything a conversation ever held, also what rewrites replaced (mecha 14).
-- One row per part of a message ever recorded, each message once, in order of first sighting.
--
-- session_id   VARCHAR  session
-- message      BIGINT   index in this union, 0-based; not a position in the conversation
-- block        BIGINT   part of the message, 0-based
-- source_id    BIGINT   file
-- message_ix   BIGINT   index in the source's message pool
-- seq          BIGINT   entry that first held it
-- is_in_force  BOOLEAN  it stands in the conversation at the end
-- role         VARCHAR  user, assistant, system, tool
-- kind         VARCHAR  text, thinking, call, result, image, extra
-- name         VARCHAR  tool
-- call_id      VARCHAR  tool call
-- text         VARCHAR  the text
WITH sightings AS (
  SELECT session_id, source_id, message_ix, seq FROM raw.entries WHERE message_ix IS NOT NULL
  UNION ALL
  SELECT session_id, source_id, message_ix, seq FROM raw.windows WHERE message_ix IS NOT NULL
),
first_seen AS (
  SELECT session_id, source_id, message_ix, min(seq) AS seq
  FROM sightings
  GROUP BY session_id, source_id, message_ix
),
standing AS (
  SELECT DISTINCT session_id, source_id, message_ix FROM timeline._in_force
),
listed AS (
  SELECT
    f.session_id, f.source_id, f.message_ix, f.seq,
    row_number() OVER (PARTITION BY f.session_id ORDER BY o.place, f.message_ix) - 1 AS message
  FROM first_seen f
  JOIN timeline._order o ON o.session_id = f.session_id AND o.source_id = f.source_id AND o.seq = f.seq
)
SELECT
  l.session_id,
  l.message,
  b.block,
  l.source_id,
  l.message_ix,
  l.seq,
  s.message_ix IS NOT NULL AS is_in_force,
  p.role,
  b.kind,
  b.name,
  b.call_id,
  b.text
FROM listed l
LEFT JOIN standing s ON s.session_id = l.session_id AND s.source_id = l.source_id AND s.message_ix = l.message_ix
LEFT JOIN pools p
  ON p.session_id = l.session_id AND p.source_id = l.source_id AND p.pool = 'message' AND p.ix = l.message_ix
LEFT JOIN blocks b
  ON b.session_id = l.session_id AND b.source_id = l.source_id AND b.pool = 'message' AND b.ix = l.message_ix
ORDER BY l.session_id, l.message, b.block NULLS FIRST
