-- Which entries a session's timeline draws.
-- One row per entry drawn: a record that stands in several files of a session is drawn once; what a session took over
-- from another one is drawn too, as part of its own past.
--
-- session_id     VARCHAR  session
-- source_id      BIGINT   file the entry stands in
-- seq            BIGINT   position in that file
-- source_rank    BIGINT   which file of the session to believe, 1 first
-- is_taken_over  BOOLEAN  it is counted elsewhere: it repeats a record of another session
SELECT
  e.session_id,
  e.source_id,
  e.seq,
  t.rank AS source_rank,
  c.seq IS NOT NULL AS is_taken_over
FROM raw.entries e
LEFT JOIN sources f ON f.source_id = e.source_id
LEFT JOIN copies c ON c.source_id = e.source_id AND c.seq = e.seq
LEFT JOIN _tellings t ON t.session_id = e.session_id AND t.source_id = e.source_id
WHERE f.superseded_by IS NULL
QUALIFY e.record_id IS NULL OR row_number() OVER (
  PARTITION BY e.session_id, e.record_id
  ORDER BY c.seq IS NOT NULL, t.rank NULLS LAST, e.source_id, e.seq
) = 1
