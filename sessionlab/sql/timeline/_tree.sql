-- The agents of a session and where each stands in the tree of who made whom.
-- One row per agent that is told of or has entries.
--
-- session_id       VARCHAR  session
-- agent_id         VARCHAR  agent
-- parent_agent_id  VARCHAR  agent it hangs from: the one that made it, root when none is told; null for root
-- path             VARCHAR  births of its ancestors and its own, root first: sorts depth first
-- entries          BIGINT   entries drawn
-- first_order      BIGINT   place of the first
-- last_order       BIGINT   place of the last
--
-- Each round doubles the stretch of ancestors that a path covers: six rounds reach 64 generations.
WITH active AS (
  SELECT session_id, agent_id, count(*) AS entries, min(place) AS first_order, max(place) AS last_order
  FROM timeline._order
  GROUP BY session_id, agent_id
),
known AS (
  SELECT
    coalesce(a.session_id, x.session_id) AS session_id,
    coalesce(a.agent_id, x.agent_id) AS agent_id,
    CASE
      WHEN coalesce(a.agent_id, x.agent_id) = 'root' OR a.origin = 'root' THEN NULL
      ELSE coalesce(a.parent_agent_id, 'root')
    END AS parent_agent_id,
    a.seq, coalesce(x.entries, 0) AS entries, x.first_order, x.last_order
  FROM agents a
  FULL JOIN active x ON x.session_id = a.session_id AND x.agent_id = a.agent_id
),
born AS (
  SELECT
    *,
    lpad(CAST(row_number() OVER (
      PARTITION BY session_id
      ORDER BY agent_id <> 'root', seq NULLS LAST, first_order NULLS LAST, agent_id
    ) AS VARCHAR), 6, '0') AS birth
  FROM known
),
step0 AS (
  SELECT session_id, agent_id, parent_agent_id AS elder, birth AS path FROM born
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
SELECT b.session_id, b.agent_id, b.parent_agent_id, s.path, b.entries, b.first_order, b.last_order
FROM born b
JOIN step6 s ON s.session_id = b.session_id AND s.agent_id = b.agent_id
