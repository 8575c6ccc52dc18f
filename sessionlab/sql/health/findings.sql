-- What is worth a look, by the thresholds of mecha 11.5. One row per finding and model.
-- Looks at the last 200 sessions and judges models with at least 20 runs; the evidence stands beside each verdict.
--
-- model      VARCHAR  model judged
-- finding    VARCHAR  what it does
-- observed   DOUBLE   the rate seen
-- threshold  DOUBLE   the rate at which the finding fires
-- cases      BIGINT   runs or calls that count towards it
-- out_of     BIGINT   runs or calls looked at
-- runs       BIGINT   runs of the model among the last 200 sessions
WITH recent AS (
  SELECT session_id
  FROM sessions
  WHERE same_as_session_id IS NULL
  ORDER BY created_at DESC NULLS LAST, session_id DESC
  LIMIT 200
),
judged AS (
  SELECT
    model, count(*) AS runs,
    count(*) FILTER (WHERE ended_on_failed_call) AS ended_failed,
    count(ended_on_failed_call) AS ended_known,
    CAST(sum(tool_errors) FILTER (WHERE tool_calls IS NOT NULL) AS BIGINT) AS errors,
    CAST(sum(tool_calls) FILTER (WHERE tool_errors IS NOT NULL) AS BIGINT) AS calls,
    count(*) FILTER (WHERE stop_class = 'cut_short') AS cut_short
  FROM health.runs
  SEMI JOIN recent USING (session_id)
  WHERE model IS NOT NULL
  GROUP BY model
  HAVING count(*) >= 20
),
measured AS (
  SELECT model, 'ends runs on a failed call' AS finding, 0.20 AS threshold, ended_failed AS cases, ended_known AS out_of, runs
  FROM judged
  UNION ALL
  SELECT model, 'fails its tool calls' AS finding, 0.25 AS threshold, errors AS cases, calls AS out_of, runs
  FROM judged
  WHERE calls >= 20
  UNION ALL
  SELECT model, 'is cut short by the harness' AS finding, 0.25 AS threshold, cut_short AS cases, runs AS out_of, runs
  FROM judged
)
SELECT
  model, finding, CAST(cases AS DOUBLE) / nullif(out_of, 0) AS observed, CAST(threshold AS DOUBLE) AS threshold,
  cases, out_of, runs
FROM measured
WHERE CAST(cases AS DOUBLE) / nullif(out_of, 0) >= threshold
ORDER BY model, finding
