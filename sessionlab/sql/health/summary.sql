-- How runs went, all together. One row.
--
-- runs                       BIGINT   finished runs
-- sessions_read              BIGINT   sessions looked at, those without a finished run included
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
  count(r.session_id) AS runs,
  (SELECT count(*) FROM sessions WHERE same_as_session_id IS NULL) AS sessions_read,
  CAST(sum(r.tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(r.tool_errors) AS BIGINT) AS tool_errors,
  CAST(sum(r.tool_errors) FILTER (WHERE r.tool_calls IS NOT NULL) AS DOUBLE)
    / nullif(CAST(sum(r.tool_calls) FILTER (WHERE r.tool_errors IS NOT NULL) AS DOUBLE), 0) AS tool_error_rate,
  CAST(sum(r.tool_denied) AS BIGINT) AS tool_denied,
  CAST(sum(r.tool_staged) AS BIGINT) AS tool_staged,
  CAST(sum(r.malformed_tool_args) AS BIGINT) AS malformed_tool_args,
  CAST(sum(r.blocked_sends) AS BIGINT) AS blocked_sends,
  CAST(sum(r.compactions) AS BIGINT) AS compactions,
  CASE WHEN count(r.ended_on_failed_call) > 0 THEN count(r.session_id) FILTER (WHERE r.ended_on_failed_call) END
    AS ended_on_failed_call,
  CAST(count(r.session_id) FILTER (WHERE r.ended_on_failed_call) AS DOUBLE)
    / nullif(count(r.ended_on_failed_call), 0) AS ended_on_failed_call_rate,
  count(r.ended_on_failed_call) AS runs_with_ending,
  count(r.session_id) FILTER (WHERE r.stop_class = 'cut_short') AS cut_short,
  CAST(count(r.session_id) FILTER (WHERE r.stop_class = 'cut_short') AS DOUBLE) / nullif(count(r.session_id), 0) AS cut_short_rate,
  count(r.session_id) FILTER (WHERE r.stop_class = 'interrupted') AS interrupted,
  count(r.session_id) FILTER (WHERE r.stop_class = 'failed') AS failed,
  count(r.session_id) FILTER (WHERE r.stop_class IS NULL) AS unrecorded,
  sum(r.recorded_usd) AS recorded_usd,
  count(r.recorded_usd) AS runs_priced
FROM health.runs r
