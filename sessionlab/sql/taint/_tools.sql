-- The tools whose calls or results a message in force holds.
-- One row per message in force that holds any.
--
-- session_id  VARCHAR  session
-- source_id   BIGINT   file
-- agent_id    VARCHAR  agent
-- position    BIGINT   index in the conversation
-- name        VARCHAR  tool, and how many others
-- external    BOOLEAN  a result came from outside the machine; null: not told of one of them; of calls alone null
WITH versions AS (
  SELECT f.session_id, f.source_id, f.agent_id, f.position, f.message_ix
  FROM timeline._in_force f
  UNION
  SELECT f.session_id, f.source_id, f.agent_id, f.position, TRY_CAST((e.detail->>'$.extends_ix') AS BIGINT)
  FROM timeline._in_force f
  JOIN raw.entries e
    ON e.session_id = f.session_id AND e.source_id = f.source_id AND e.position = f.position AND e.kind = 'extend'
    AND e.seq > f.put_seq
),
held AS (
  SELECT v.session_id, v.source_id, v.agent_id, v.position, t.name, t.external, true AS is_result
  FROM versions v
  JOIN raw.tool_calls t
    ON t.session_id = v.session_id AND t.source_id = v.source_id AND t.output_pool = 'message'
    AND t.output_ix = v.message_ix
  UNION ALL
  SELECT f.session_id, f.source_id, f.agent_id, f.position, t.name, NULL, false
  FROM timeline._in_force f
  JOIN raw.tool_calls t ON t.session_id = f.session_id AND t.source_id = f.source_id AND t.seq = f.put_seq
  JOIN raw.entries e ON e.session_id = f.session_id AND e.source_id = f.source_id AND e.seq = f.put_seq
  WHERE e.kind = 'message' AND e.role = 'assistant'
)
SELECT
  session_id,
  source_id,
  agent_id,
  position,
  CASE
    WHEN min(name) = max(name) THEN min(name)
    WHEN count(DISTINCT name) = 2 THEN concat(min(name), ' and ', max(name))
    ELSE concat(min(name), ' and ', count(DISTINCT name) - 1, ' others')
  END AS name,
  CASE
    WHEN bool_or(external) THEN true
    WHEN count(*) FILTER (WHERE is_result) > 0 AND count(*) FILTER (WHERE is_result) = count(external) THEN false
  END AS external
FROM held
GROUP BY session_id, source_id, agent_id, position
