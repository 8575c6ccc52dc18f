-- Where the time of each session went: model, tools, shell, git, waiting.
-- One row per session with entries. elapsed_ms is that of the session; every other figure is agent time, summed over
-- its agents as in `time.by_agent`: agents work side by side, so it may be more.
--
-- session_id        VARCHAR  session
-- format            VARCHAR  format it was recorded in
-- agents            BIGINT   agents with entries
-- measured_by       VARCHAR  what elapsed_ms is from: clock (readings), runs (of the root agent); null: nothing tells
-- elapsed_ms        BIGINT   from its earliest reading to its latest, else what the runs of the root agent took
-- model_ms          BIGINT   durations of all model calls
-- model_outside_ms  BIGINT   the part of it before the first reading of an agent or after its last
-- untimed_calls     BIGINT   model calls without a duration, which model_ms misses
-- tool_ms           BIGINT   tools, shell commands apart
-- shell_ms          BIGINT   shell commands
-- git_ms            BIGINT   the harness's own git
-- waiting_ms        BIGINT   nothing stood between two readings but model calls
-- unattributed_ms   BIGINT   between readings, of which cannot be told where it went
-- overrun_ms        BIGINT   by how much durations exceed the time between the readings around them
-- untimed_agents    BIGINT   agents of which elapsed time cannot be told
WITH clocked AS (
  SELECT
    session_id,
    CASE WHEN count(elapsed_ms) > 1 THEN max(elapsed_ms) - min(elapsed_ms) END AS elapsed_ms
  FROM entries
  GROUP BY session_id
),
summed AS (
  SELECT
    session_id,
    count(*) AS agents,
    max(CASE WHEN agent_id = 'root' THEN elapsed_ms END) AS root_ms,
    CAST(sum(model_ms) AS BIGINT) AS model_ms,
    CAST(sum(model_outside_ms) AS BIGINT) AS model_outside_ms,
    CAST(sum(untimed_calls) AS BIGINT) AS untimed_calls,
    CAST(sum(tool_ms) AS BIGINT) AS tool_ms,
    CAST(sum(shell_ms) AS BIGINT) AS shell_ms,
    CAST(sum(git_ms) AS BIGINT) AS git_ms,
    CAST(sum(waiting_ms) AS BIGINT) AS waiting_ms,
    CAST(sum(unattributed_ms) AS BIGINT) AS unattributed_ms,
    CAST(sum(overrun_ms) AS BIGINT) AS overrun_ms,
    count(*) FILTER (WHERE elapsed_ms IS NULL) AS untimed_agents
  FROM time.by_agent
  GROUP BY session_id
)
SELECT
  s.session_id,
  f.format,
  s.agents,
  CASE WHEN c.elapsed_ms IS NOT NULL THEN 'clock' WHEN s.root_ms IS NOT NULL THEN 'runs' END AS measured_by,
  coalesce(c.elapsed_ms, s.root_ms) AS elapsed_ms,
  s.model_ms,
  s.model_outside_ms,
  s.untimed_calls,
  s.tool_ms,
  s.shell_ms,
  s.git_ms,
  s.waiting_ms,
  s.unattributed_ms,
  s.overrun_ms,
  s.untimed_agents
FROM summed s
JOIN clocked c ON c.session_id = s.session_id
LEFT JOIN sessions f ON f.session_id = s.session_id
ORDER BY s.session_id
