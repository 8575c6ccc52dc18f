-- Why runs stopped. One row per recorded cause, those without one first, then in the order of mecha 11.2.
--
-- stop_cause  VARCHAR  the recorded word; `unrecorded` for runs that record none
-- stop_class  VARCHAR  completed, cut_short, interrupted, failed; null where nothing tells
-- runs        BIGINT   runs that stopped so
-- share       DOUBLE   of all runs
WITH named AS (
  SELECT coalesce(stop_cause, 'unrecorded') AS stop_cause, stop_class FROM health.runs
)
SELECT
  stop_cause, stop_class, count(*) AS runs,
  CAST(count(*) AS DOUBLE) / nullif(sum(count(*)) OVER (), 0) AS share
FROM named
GROUP BY stop_cause, stop_class
ORDER BY
  CASE stop_cause
    WHEN 'unrecorded' THEN 0 WHEN 'completed' THEN 1 WHEN 'max_turns' THEN 2 WHEN 'output_token_budget' THEN 3
    WHEN 'cost_budget' THEN 4 WHEN 'interrupted' THEN 5 WHEN 'loop' THEN 6 WHEN 'no_output' THEN 7
    WHEN 'stopped' THEN 8 ELSE 9
  END,
  stop_cause, stop_class NULLS LAST
