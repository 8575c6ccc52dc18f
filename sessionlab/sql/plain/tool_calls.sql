-- `raw.tool_calls` without superseded files and copied rows.
-- One row as in `raw.tool_calls`. A call whose kept record got no result in its own file (the session was resumed in
-- another one, which repeats the call) takes how it ended from the copy; where the result stands is told in one file
-- only, so `result_seq` and `output_ix` stay null.
WITH retold AS (
  SELECT
    kept.source_id, kept.seq, t.ordinal,
    min_by(t.status, t.source_id) FILTER (WHERE t.status IS NOT NULL) AS status,
    min_by(t.refused_by, t.source_id) FILTER (WHERE t.refused_by IS NOT NULL) AS refused_by,
    min_by(t.reason, t.source_id) FILTER (WHERE t.reason IS NOT NULL) AS reason,
    min_by(t.external, t.source_id) FILTER (WHERE t.external IS NOT NULL) AS external,
    min_by(t.exit_code, t.source_id) FILTER (WHERE t.exit_code IS NOT NULL) AS exit_code,
    min_by(t.returned_at, t.source_id) FILTER (WHERE t.returned_at IS NOT NULL) AS returned_at,
    min_by(t.duration_ms, t.source_id) FILTER (WHERE t.duration_ms IS NOT NULL) AS duration_ms
  FROM copies c
  JOIN raw.entries copy ON copy.source_id = c.source_id AND copy.seq = c.seq
  JOIN raw.entries kept ON kept.record_id = copy.record_id
  JOIN raw.tool_calls t ON t.source_id = c.source_id AND t.seq = c.seq
  WHERE c.rule = 'same_record' AND t.result_seq IS NOT NULL
  GROUP BY kept.source_id, kept.seq, t.ordinal
)
SELECT
  x.source_id,
  x.session_id,
  x.seq,
  x.line,
  x.agent_id,
  x.ordinal,
  x.result_seq,
  x.call_id,
  x.charge_id,
  x.run,
  x.turn,
  x.batch,
  x.name,
  x.caller,
  x.arguments,
  x.output_pool,
  x.output_ix,
  x.output_block,
  coalesce(x.status, r.status) AS status,
  coalesce(x.refused_by, r.refused_by) AS refused_by,
  coalesce(x.reason, r.reason) AS reason,
  coalesce(x.external, r.external) AS external,
  coalesce(x.exit_code, r.exit_code) AS exit_code,
  x.called_at,
  coalesce(x.returned_at, r.returned_at) AS returned_at,
  coalesce(x.duration_ms, r.duration_ms) AS duration_ms
FROM raw.tool_calls x
JOIN sources s ON s.source_id = x.source_id AND s.superseded_by IS NULL
LEFT JOIN copies c ON c.source_id = x.source_id AND c.seq = x.seq
LEFT JOIN retold r
  ON r.source_id = x.source_id AND r.seq = x.seq AND r.ordinal = x.ordinal AND x.result_seq IS NULL
WHERE c.seq IS NULL
