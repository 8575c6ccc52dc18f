-- What optional sensors of runs measured (mecha 4.4, later builds). One row per model and sensor that any run of it has.
-- A run without the sensor was not measured, which is not zero: it is in no denominator.
--
-- model             VARCHAR  model by the configuration in effect; null when nothing names it
-- sensor            VARCHAR  name of the counter, as recorded
-- runs              BIGINT   finished runs of the model
-- runs_with_sensor  BIGINT   runs that carry it
-- runs_above_zero   BIGINT   of these, runs where it counted something
-- rate              DOUBLE   runs_above_zero over runs_with_sensor
-- total             BIGINT   its sum over the runs that carry it
WITH names AS (
  SELECT 'context_overflows' AS sensor
  UNION ALL SELECT 'boredom_notices' AS sensor
  UNION ALL SELECT 'step_escalations_attempted' AS sensor
  UNION ALL SELECT 'step_escalations_revised' AS sensor
  UNION ALL SELECT 'checks_declared' AS sensor
  UNION ALL SELECT 'checks_passed' AS sensor
  UNION ALL SELECT 'step_completions' AS sensor
  UNION ALL SELECT 'step_measured' AS sensor
  UNION ALL SELECT 'step_nulls' AS sensor
  UNION ALL SELECT 'step_reopens' AS sensor
  UNION ALL SELECT 'goal_plan_writes' AS sensor
  UNION ALL SELECT 'goal_drift_writes' AS sensor
  UNION ALL SELECT 'goal_unnamed_writes' AS sensor
),
measured AS (
  SELECT o.model, n.sensor, TRY_CAST((o.sensors->>concat('$.', n.sensor)) AS BIGINT) AS counted
  FROM outcomes o
  JOIN sessions s ON s.session_id = o.session_id
  CROSS JOIN names n
  WHERE s.same_as_session_id IS NULL
)
SELECT
  model, sensor, count(*) AS runs, count(counted) AS runs_with_sensor,
  count(*) FILTER (WHERE counted > 0) AS runs_above_zero,
  CAST(count(*) FILTER (WHERE counted > 0) AS DOUBLE) / nullif(count(counted), 0) AS rate,
  CAST(sum(counted) AS BIGINT) AS total
FROM measured
GROUP BY model, sensor
HAVING count(counted) > 0
ORDER BY model NULLS LAST, sensor
