-- The configuration each message in force was written under.
-- One row per message in force at the end. A configuration that was read at a length of the conversation covers the
-- messages from there on; rewrites move that place (mecha 8.6). Without lengths it covers what was recorded after it.
--
-- session_id        VARCHAR  session
-- agent_id          VARCHAR  agent whose conversation it is
-- source_id         BIGINT   file
-- position          BIGINT   index of the message in the conversation, 0-based
-- config_seq        BIGINT   entry of the configuration; null: none covers the message, and so all that follows
-- config_position   BIGINT   first message it covers, after all rewrites; null without lengths
-- provider          VARCHAR  provider
-- model             VARCHAR  model
-- effort            VARCHAR  reasoning effort
-- temperature       DOUBLE   sampling temperature
-- permission_mode   VARCHAR  permission mode
-- workspace         VARCHAR  working folder
-- branch            VARCHAR  git branch
-- recorder_version  VARCHAR  version of the recorder
-- tools_hash        VARCHAR  fingerprint of the tool surface
WITH moves AS (
  SELECT
    session_id, source_id, agent_id, seq,
    CASE WHEN (detail->>'$.in_place') = 'true' THEN messages ELSE 0 END AS most
  FROM raw.entries
  WHERE kind IN ('rewrite', 'compaction') AND (detail->>'$.in_place') IS NOT NULL
),
moved AS (
  SELECT
    c.session_id, c.source_id, c.agent_id, c.seq, least(min(c.position), min(m.most)) AS position
  FROM raw.configs c
  LEFT JOIN moves m
    ON m.session_id = c.session_id AND m.source_id = c.source_id AND m.agent_id = c.agent_id AND m.seq > c.seq
    AND c.position IS NOT NULL
  GROUP BY c.session_id, c.source_id, c.agent_id, c.seq
),
covering AS (
  SELECT
    f.session_id, f.source_id, f.agent_id, f.position, f.place, max(v.seq) AS config_seq,
    max_by(v.position, v.seq) AS config_position
  FROM timeline._in_force f
  LEFT JOIN moved v
    ON v.session_id = f.session_id AND v.source_id = f.source_id AND v.agent_id = f.agent_id
    AND CASE WHEN v.position IS NOT NULL THEN v.position <= f.position ELSE v.seq <= f.put_seq END
  GROUP BY f.session_id, f.source_id, f.agent_id, f.position, f.place
)
SELECT
  v.session_id,
  v.agent_id,
  v.source_id,
  v.position,
  v.config_seq,
  v.config_position,
  c.provider,
  c.model,
  c.effort,
  c.temperature,
  c.permission_mode,
  c.workspace,
  c.branch,
  c.recorder_version,
  c.tools_hash
FROM covering v
LEFT JOIN raw.configs c
  ON c.session_id = v.session_id AND c.source_id = v.source_id AND c.agent_id = v.agent_id AND c.seq = v.config_seq
ORDER BY v.session_id, v.place, v.position
