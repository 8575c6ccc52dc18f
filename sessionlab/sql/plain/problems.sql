-- What is wrong, of superseded files too, and what only the whole load shows.
-- One row as in `raw.problems`; besides, one note per further file that tells a session's log.
SELECT * FROM raw.problems
UNION ALL
SELECT
  t.source_id, t.session_id, CAST(NULL AS BIGINT) AS seq, CAST(NULL AS BIGINT) AS line,
  CAST(NULL AS BIGINT) AS byte_offset, CAST(NULL AS BIGINT) AS byte_length,
  'session_in_several_files' AS kind, 'note' AS severity,
  concat('this file and ', best.uri, ' tell the same session; what they share counts once') AS detail
FROM _tellings t
JOIN raw.sessions r ON r.source_id = t.source_id AND r.session_id = t.session_id AND r.part = 'log'
JOIN _tellings b ON b.session_id = t.session_id AND b.rank = 1
JOIN raw.sources best ON best.source_id = b.source_id
JOIN (SELECT DISTINCT source_id, session_id FROM raw.entries WHERE agent_id = 'root') e
  ON e.source_id = t.source_id AND e.session_id = t.session_id
WHERE t.rank > 1
