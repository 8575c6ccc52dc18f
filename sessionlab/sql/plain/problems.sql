-- What is wrong, of superseded files too, and what only the whole load shows.
-- One row as in `raw.problems`; besides, one note per further file that tells a session's log, one per charge
-- whose two recorded figures differ, and one per call whose result is dated before it.
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
UNION ALL
SELECT
  o.source_id, o.session_id, o.seq, o.line, CAST(NULL AS BIGINT) AS byte_offset, CAST(NULL AS BIGINT) AS byte_length,
  'figures_differ' AS kind, 'note' AS severity,
  concat(
    o.recorded_in, ' and ', l.recorded_in, ' of one run differ: input ', o.uncached_input_tokens, ' and ',
    l.uncached_input_tokens, ', cache writes ', o.cache_write_tokens, ' and ', l.cache_write_tokens, ', cache reads ',
    o.cache_read_tokens, ' and ', l.cache_read_tokens, ', output ', o.output_tokens, ' and ', l.output_tokens,
    ' tokens; the latter count'
  ) AS detail
FROM raw.usage o
JOIN raw.usage l ON l.source_id = o.source_id AND l.charge_id = o.charge_id AND l.standing = 'ledger'
WHERE o.standing = 'stand_in'
  AND (
    o.uncached_input_tokens <> l.uncached_input_tokens OR o.cache_write_tokens <> l.cache_write_tokens
    OR o.cache_read_tokens <> l.cache_read_tokens OR o.output_tokens <> l.output_tokens
  )
UNION ALL
SELECT
  t.source_id, t.session_id, t.seq, t.line, CAST(NULL AS BIGINT) AS byte_offset, CAST(NULL AS BIGINT) AS byte_length,
  'time_runs_backward' AS kind, 'note' AS severity,
  concat('the result of ', t.name, ' is dated ', t.returned_at, ', before its call at ', t.called_at) AS detail
FROM raw.tool_calls t
WHERE t.returned_at < t.called_at
