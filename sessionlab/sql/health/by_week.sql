-- How runs went, week by week in the zone of the corpus. One row per week in which a run began; undated runs last, with
-- a null week.
--
-- week                       DATE     Monday the local week begins with; null: nothing dates these runs
-- runs                       BIGINT   finished runs
-- tool_calls                 BIGINT   calls attempted
-- tool_errors                BIGINT   calls that failed
-- tool_error_rate            DOUBLE   tool_errors over tool_calls; null without calls
-- tool_denied                BIGINT   calls refused; in the denominator of the error rate, never in its numerator
-- tool_staged                BIGINT   calls placed in an outbox
-- malformed_tool_args        BIGINT   calls whose arguments were no JSON
-- blocked_sends              BIGINT   sends stopped by the interlock
-- compactions                BIGINT   summaries taken
-- ended_on_failed_call       BIGINT   runs that ended on a failed call; null when no run records it
-- ended_on_failed_call_rate  DOUBLE   their share of the runs that record it; null without such runs
-- runs_with_ending           BIGINT   runs that record whether their last call had failed
-- cut_short                  BIGINT   runs the harness cut short
-- cut_short_rate             DOUBLE   their share of all runs; null without runs
-- interrupted                BIGINT   runs a person or a shutdown stopped
-- failed                     BIGINT   runs that failed
-- unrecorded                 BIGINT   runs whose end nothing tells
-- recorded_usd               DOUBLE   cost written down at the time, US dollars; null when no run has one
-- runs_priced                BIGINT   runs with a recorded cost
SELECT
  CAST(date_trunc('week', timezone(settings.tz, timezone('UTC', started_at))) AS DATE) AS week,
  count(*) AS runs,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(tool_errors) AS BIGINT) AS tool_errors,
  CAST(sum(tool_errors) FILTER (WHERE tool_calls IS NOT NULL) AS DOUBLE)
    / nullif(CAST(sum(tool_calls) FILTER (WHERE tool_errors IS NOT NULL) AS DOUBLE), 0) AS tool_error_rate,
  CAST(sum(tool_denied) AS BIGINT) AS tool_denied,
  CAST(sum(tool_staged) AS BIGINT) AS tool_staged,
  CAST(sum(malformed_tool_args) AS BIGINT) AS malformed_tool_args,
  CAST(sum(blocked_sends) AS BIGINT) AS blocked_sends,
  CAST(sum(compactions) AS BIGINT) AS compactions,
  CASE WHEN count(ended_on_failed_call) > 0 THEN count(*) FILTER (WHERE ended_on_failed_call) END
    AS ended_on_failed_call,
  CAST(count(*) FILTER (WHERE ended_on_failed_call) AS DOUBLE)
    / nullif(count(ended_on_failed_call), 0) AS ended_on_failed_call_rate,
  count(ended_on_failed_call) AS runs_with_ending,
  count(*) FILTER (WHERE stop_class = 'cut_short') AS cut_short,
  CAST(count(*) FILTER (WHERE stop_class = 'cut_short') AS DOUBLE) / nullif(count(*), 0) AS cut_short_rate,
  count(*) FILTER (WHERE stop_class = 'interrupted') AS interrupted,
  count(*) FILTER (WHERE stop_class = 'failed') AS failed,
  count(*) FILTER (WHERE stop_class IS NULL) AS unrecorded,
  sum(recorded_usd) AS recorded_usd,
  count(recorded_usd) AS runs_priced
FROM health.runs
CROSS JOIN settings
GROUP BY CAST(date_trunc('week', timezone(settings.tz, timezone('UTC', started_at))) AS DATE)
ORDER BY week NULLS LAST
