-- Sessions, each once.
-- One row per session: every column from the file to believe first that tells it.
WITH counted AS (
  SELECT e.session_id, count(*) AS entries
  FROM raw.entries e
  JOIN sources f ON f.source_id = e.source_id AND f.superseded_by IS NULL
  LEFT JOIN copies c ON c.source_id = e.source_id AND c.seq = e.seq
  WHERE c.seq IS NULL
  GROUP BY e.session_id
),
originals AS (
  SELECT native_id, min(session_id) AS session_id
  FROM raw.sessions
  WHERE native_id IS NOT NULL AND format <> 'datalayer'
  GROUP BY native_id
)
SELECT
  min_by(s.source_id, t.rank) AS source_id,
  s.session_id,
  min(s.format) AS format,
  min_by(s.native_id, t.rank) FILTER (WHERE s.native_id IS NOT NULL) AS native_id,
  min_by(s.part, t.rank) FILTER (WHERE s.part IS NOT NULL) AS part,
  min_by(s.title, t.rank) FILTER (WHERE s.title IS NOT NULL) AS title,
  min_by(s.created_title, t.rank) FILTER (WHERE s.created_title IS NOT NULL) AS created_title,
  min(s.created_at) AS created_at,
  max(s.ended_at) AS ended_at,
  CAST(max(counted.entries) AS BIGINT) AS entries,
  min_by(s.provider, t.rank) FILTER (WHERE s.provider IS NOT NULL) AS provider,
  min_by(s.model, t.rank) FILTER (WHERE s.model IS NOT NULL) AS model,
  min_by(s.workspace, t.rank) FILTER (WHERE s.workspace IS NOT NULL) AS workspace,
  min_by(s.surface, t.rank) FILTER (WHERE s.surface IS NOT NULL) AS surface,
  min_by(s.state, t.rank) FILTER (WHERE s.state IS NOT NULL) AS state,
  bool_or(s.archived) AS archived,
  min(s.archived_at) AS archived_at,
  min_by(s.goal, t.rank) FILTER (WHERE s.goal IS NOT NULL) AS goal,
  min_by(s.recorder, t.rank) FILTER (WHERE s.recorder IS NOT NULL) AS recorder,
  min_by(s.recorder_version, t.rank) FILTER (WHERE s.recorder_version IS NOT NULL) AS recorder_version,
  min_by(s.recorder_commit, t.rank) FILTER (WHERE s.recorder_commit IS NOT NULL) AS recorder_commit,
  min_by(s.routing_key, t.rank) FILTER (WHERE s.routing_key IS NOT NULL) AS routing_key,
  min_by(s.detail, t.rank) FILTER (WHERE s.detail IS NOT NULL) AS detail,
  count(DISTINCT s.source_id) AS sources,
  min(o.session_id) AS same_as_session_id
FROM raw.sessions s
JOIN _tellings t ON t.source_id = s.source_id AND t.session_id = s.session_id
LEFT JOIN counted ON counted.session_id = s.session_id
LEFT JOIN originals o ON o.native_id = s.native_id AND s.format = 'datalayer'
GROUP BY s.session_id
