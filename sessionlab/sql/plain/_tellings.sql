-- The files that tell of each session, the one to believe first.
-- One row per session and file that is not superseded; rank 1 is the file that holds the root agent and the most.
-- `ended_at` is the session's: an older backup of a file did not end earlier, it only tells less.
SELECT
  t.session_id, t.source_id, max(t.ended_at) OVER (PARTITION BY t.session_id) AS ended_at, t.entries,
  row_number() OVER (
    PARTITION BY t.session_id
    ORDER BY t.part = 'mark', coalesce(r.has_root, false) DESC, t.entries DESC NULLS LAST, s.uri, t.source_id
  ) AS rank
FROM raw.sessions t
JOIN sources s ON s.source_id = t.source_id AND s.superseded_by IS NULL
LEFT JOIN (
  SELECT source_id, session_id, bool_or(agent_id = 'root') AS has_root FROM raw.entries GROUP BY source_id, session_id
) r ON r.source_id = t.source_id AND r.session_id = t.session_id
