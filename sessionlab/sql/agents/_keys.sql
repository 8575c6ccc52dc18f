-- By what an agent is known again in another run.
-- One row per agent of a session, told or met in its entries or figures.
--
-- session_id  VARCHAR  session
-- agent_id    VARCHAR  agent
-- origin_key  VARCHAR  its origin spelled from the root down; null when not told
-- nth         BIGINT   of several agents of one key which, 1-based; null without a key
WITH met AS (
  SELECT session_id, agent_id FROM agents
  UNION
  SELECT session_id, agent_id FROM entries
  UNION
  SELECT session_id, agent_id FROM usage
),
keyed AS (
  SELECT
    m.session_id, m.agent_id, a.seq, coalesce(a.origin_key, CASE WHEN m.agent_id = 'root' THEN 'root' END) AS origin_key
  FROM met m
  LEFT JOIN agents a ON a.session_id = m.session_id AND a.agent_id = m.agent_id
)
SELECT
  session_id,
  agent_id,
  origin_key,
  CASE WHEN origin_key IS NOT NULL
    THEN row_number() OVER (PARTITION BY session_id, origin_key ORDER BY seq NULLS LAST, agent_id)
  END AS nth
FROM keyed
