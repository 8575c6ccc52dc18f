-- Agents, each once.
-- One row per agent of a session: within a file the last telling replaces the earlier ones whole; over files every
-- column comes from the file to believe first that tells it.
WITH latest AS (
  SELECT *
  FROM raw.agents
  QUALIFY row_number() OVER (
    PARTITION BY source_id, session_id, agent_id ORDER BY seq DESC NULLS LAST, line DESC NULLS LAST
  ) = 1
)
SELECT
  min_by(a.source_id, t.rank) AS source_id,
  a.session_id,
  min_by(a.seq, t.rank) AS seq,
  min_by(a.line, t.rank) AS line,
  a.agent_id,
  min_by(a.parent_agent_id, t.rank) FILTER (WHERE a.parent_agent_id IS NOT NULL) AS parent_agent_id,
  min_by(a.spawn_call_id, t.rank) FILTER (WHERE a.spawn_call_id IS NOT NULL) AS spawn_call_id,
  min_by(a.depth, t.rank) FILTER (WHERE a.depth IS NOT NULL) AS depth,
  min_by(a.origin, t.rank) FILTER (WHERE a.origin IS NOT NULL) AS origin,
  min_by(a.origin_key, t.rank) FILTER (WHERE a.origin_key IS NOT NULL) AS origin_key,
  min_by(a.issue, t.rank) FILTER (WHERE a.issue IS NOT NULL) AS issue,
  min_by(a.ordinal, t.rank) FILTER (WHERE a.ordinal IS NOT NULL) AS ordinal,
  min_by(a.round, t.rank) FILTER (WHERE a.round IS NOT NULL) AS round,
  min_by(a.position, t.rank) FILTER (WHERE a.position IS NOT NULL) AS position,
  min_by(a.profile_id, t.rank) FILTER (WHERE a.profile_id IS NOT NULL) AS profile_id,
  min_by(a.profile, t.rank) FILTER (WHERE a.profile IS NOT NULL) AS profile,
  min_by(a.model, t.rank) FILTER (WHERE a.model IS NOT NULL) AS model,
  min_by(a.status, t.rank) FILTER (WHERE a.status IS NOT NULL) AS status,
  min_by(a.limit_hit, t.rank) FILTER (WHERE a.limit_hit IS NOT NULL) AS limit_hit,
  min_by(a.limit_threshold, t.rank) FILTER (WHERE a.limit_threshold IS NOT NULL) AS limit_threshold,
  min_by(a.limit_observed, t.rank) FILTER (WHERE a.limit_observed IS NOT NULL) AS limit_observed,
  min_by(a.limit_turns, t.rank) FILTER (WHERE a.limit_turns IS NOT NULL) AS limit_turns,
  min_by(a.limit_window, t.rank) FILTER (WHERE a.limit_window IS NOT NULL) AS limit_window,
  min_by(a.limit_agent_id, t.rank) FILTER (WHERE a.limit_agent_id IS NOT NULL) AS limit_agent_id,
  min_by(a.detail, t.rank) FILTER (WHERE a.detail IS NOT NULL) AS detail
FROM latest a
JOIN _tellings t ON t.source_id = a.source_id AND t.session_id = a.session_id
GROUP BY a.session_id, a.agent_id
