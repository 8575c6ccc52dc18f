-- Where each agent stands in the tree of who made whom.
-- One row per agent that is told of.
--
-- session_id  VARCHAR  session
-- agent_id    VARCHAR  agent
-- is_root     BOOLEAN  it was made by none
-- path        VARCHAR  births of its ancestors and its own, root first: sorts depth first; siblings as they are told of
--
-- An agent whose maker is not told hangs from root. Each round doubles the stretch of ancestors that a path covers: six
-- rounds reach 64 generations.
WITH born AS (
  SELECT
    session_id, agent_id, agent_id = 'root' OR origin IS NOT DISTINCT FROM 'root' AS is_root, parent_agent_id,
    lpad(CAST(row_number() OVER (
      PARTITION BY session_id ORDER BY agent_id <> 'root', seq NULLS LAST, ordinal NULLS LAST, agent_id
    ) AS VARCHAR), 6, '0') AS birth
  FROM agents
),
step0 AS (
  SELECT
    session_id, agent_id, CASE WHEN NOT is_root THEN coalesce(parent_agent_id, 'root') END AS elder, birth AS path
  FROM born
),
step1 AS (
  SELECT s.session_id, s.agent_id, e.elder, concat(e.path, s.path) AS path
  FROM step0 s
  LEFT JOIN step0 e ON e.session_id = s.session_id AND e.agent_id = s.elder
),
step2 AS (
  SELECT s.session_id, s.agent_id, e.elder, concat(e.path, s.path) AS path
  FROM step1 s
  LEFT JOIN step1 e ON e.session_id = s.session_id AND e.agent_id = s.elder
),
step3 AS (
  SELECT s.session_id, s.agent_id, e.elder, concat(e.path, s.path) AS path
  FROM step2 s
  LEFT JOIN step2 e ON e.session_id = s.session_id AND e.agent_id = s.elder
),
step4 AS (
  SELECT s.session_id, s.agent_id, e.elder, concat(e.path, s.path) AS path
  FROM step3 s
  LEFT JOIN step3 e ON e.session_id = s.session_id AND e.agent_id = s.elder
),
step5 AS (
  SELECT s.session_id, s.agent_id, e.elder, concat(e.path, s.path) AS path
  FROM step4 s
  LEFT JOIN step4 e ON e.session_id = s.session_id AND e.agent_id = s.elder
),
step6 AS (
  SELECT s.session_id, s.agent_id, e.elder, concat(e.path, s.path) AS path
  FROM step5 s
  LEFT JOIN step5 e ON e.session_id = s.session_id AND e.agent_id = s.elder
)
SELECT b.session_id, b.agent_id, b.is_root, s.path
FROM born b
JOIN step6 s ON s.session_id = b.session_id AND s.agent_id = b.agent_id
