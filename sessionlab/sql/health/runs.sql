-- How every recorded run went. One row per finished run, as recorded; retellings of a session already there are left
-- out.
--
-- source_id             BIGINT     file the outcome stands in
-- session_id            VARCHAR    session
-- format                VARCHAR    format it was recorded in
-- surface               VARCHAR    front end that opened the session
-- agent_id              VARCHAR    agent that ran
-- run                   BIGINT     run within the session, 1-based
-- provider              VARCHAR    provider by the configuration in effect
-- model                 VARCHAR    model by the configuration in effect
-- title                 VARCHAR    title the session was created with
-- workspace             VARCHAR    working folder
-- started_at            TIMESTAMP  when the run began; the session's start where the run has no time of its own
-- duration_ms           BIGINT     how long it took: as recorded, else from its beginning to its end
-- turns                 BIGINT     model calls
-- stop_cause            VARCHAR    why it stopped, the recorded word; null when unrecorded
-- stop_class            VARCHAR    completed, cut_short, interrupted, failed; null where nothing tells
-- exhausted             BOOLEAN    a budget was reached
-- ended_on_failed_call  BOOLEAN    the model ended the run itself and its last call had failed
-- tool_calls            BIGINT     calls attempted
-- tool_errors           BIGINT     calls that failed; refusals are not among them
-- tool_denied           BIGINT     calls a person or a policy refused
-- tool_staged           BIGINT     calls placed in an outbox
-- malformed_tool_args   BIGINT     calls whose arguments were no JSON
-- blocked_sends         BIGINT     sends stopped by the interlock
-- compactions           BIGINT     summaries taken
-- private               BOOLEAN    private data had entered by the end
-- untrusted             BOOLEAN    outside content had entered by the end
-- recorded_usd          DOUBLE     cost written down at the time, US dollars
-- usage_complete        BOOLEAN    false: the recorded usage is a lower bound
SELECT
  o.source_id, o.session_id, s.format, s.surface, o.agent_id, o.run, o.provider, o.model, s.created_title AS title,
  s.workspace, coalesce(o.started_at, s.created_at) AS started_at,
  coalesce(o.duration_ms, CASE WHEN o.ended_at >= o.started_at THEN date_diff('millisecond', o.started_at, o.ended_at) END)
    AS duration_ms,
  o.turns, o.stop_cause, o.stop_class,
  o.exhausted, o.ended_on_failed_call, o.tool_calls, o.tool_errors, o.tool_denied, o.tool_staged,
  o.malformed_tool_args, o.blocked_sends, o.compactions, o.private, o.untrusted, o.recorded_usd, o.usage_complete
FROM outcomes o
JOIN sessions s ON s.session_id = o.session_id
WHERE s.same_as_session_id IS NULL
ORDER BY started_at NULLS LAST, o.session_id, o.run NULLS LAST, o.agent_id
