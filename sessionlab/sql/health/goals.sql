-- Runs tied to a goal, and whether their plans kept to it (mecha 4.4 and 11.4, later builds). One row per model and
-- kind of goal.
--
-- model             VARCHAR  model by the configuration in effect; null when nothing names it
-- goal_kind         VARCHAR  word before the colon of the goal; null: the run is tied to none
-- runs              BIGINT   finished runs
-- runs_with_sensor  BIGINT   runs that count writes to their plan
-- planned           BIGINT   of these, runs that wrote to their plan
-- named             BIGINT   of these, runs with a write that named its goal
-- unjudged          BIGINT   runs that wrote to their plan, and nothing tells whether it drifted from the goal
WITH counted AS (
  SELECT
    o.model,
    nullif(trim(split_part(o.goal, ':', 1)), '') AS goal_kind,
    TRY_CAST((o.sensors->>'$.goal_plan_writes') AS BIGINT) AS plans,
    TRY_CAST((o.sensors->>'$.goal_drift_writes') AS BIGINT) AS drifts,
    TRY_CAST((o.sensors->>'$.goal_unnamed_writes') AS BIGINT) AS unnamed
  FROM outcomes o
  JOIN sessions s ON s.session_id = o.session_id
  WHERE s.same_as_session_id IS NULL
)
SELECT
  model, goal_kind, count(*) AS runs,
  count(coalesce(plans, drifts, unnamed)) AS runs_with_sensor,
  count(*) FILTER (WHERE plans > 0) AS planned,
  count(*) FILTER (WHERE plans > unnamed) AS named,
  count(*) FILTER (WHERE plans > 0 AND drifts IS NULL) AS unjudged
FROM counted
GROUP BY model, goal_kind
ORDER BY model NULLS LAST, goal_kind NULLS LAST
