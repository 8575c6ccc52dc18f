-- Where the time of each agent went: model, tools, shell, git, waiting.
-- One row per agent with entries, by session. By clock readings and durations of calls, as in `time.intervals`; where
-- an agent has no two readings, by what durations are recorded. A class of which nothing tells is null, never 0.
--
-- session_id        VARCHAR  session
-- agent_id          VARCHAR  agent
-- measured_by       VARCHAR  what elapsed_ms is from: clock (readings), runs (their durations); null: nothing tells
-- readings          BIGINT   clock readings
-- elapsed_ms        BIGINT   from the first reading to the last, else what its runs took together
-- model_ms          BIGINT   durations of all its model calls, failed ones and compactions included
-- model_outside_ms  BIGINT   the part of it before the first reading or after the last; null without two readings
-- untimed_calls     BIGINT   model calls without a duration, which model_ms misses
-- tool_ms           BIGINT   tools, shell commands apart
-- shell_ms          BIGINT   shell commands
-- git_ms            BIGINT   the harness's own git
-- waiting_ms        BIGINT   nothing stood between two readings but model calls
-- unattributed_ms   BIGINT   between readings, of which cannot be told where it went; null without two readings
-- overrun_ms        BIGINT   by how much durations exceed the time between the readings around them
-- intervals         BIGINT   pairs of readings looked at
-- untold_intervals  BIGINT   those whose rest cannot be told
--
-- Between readings everything adds up: elapsed_ms + overrun_ms = model_ms - model_outside_ms + tool_ms + shell_ms +
-- git_ms + waiting_ms + unattributed_ms. What tools did before the first reading and after the last cannot be told.
WITH said AS (
  SELECT
    session_id, agent_id,
    count(elapsed_ms) AS readings,
    CASE WHEN count(elapsed_ms) > 1
      THEN max_by(elapsed_ms, seq) FILTER (WHERE elapsed_ms IS NOT NULL)
        - min_by(elapsed_ms, seq) FILTER (WHERE elapsed_ms IS NOT NULL)
    END AS elapsed_ms,
    CAST(sum(duration_ms) FILTER (WHERE kind IN ('model_call', 'model_error')) AS BIGINT) AS model_ms,
    count(*) FILTER (WHERE kind IN ('model_call', 'model_error') AND duration_ms IS NULL)
      + count(DISTINCT CASE WHEN kind = 'message' AND role = 'assistant' AND duration_ms IS NULL THEN turn END)
      AS untimed_calls,
    CAST(sum(duration_ms) FILTER (WHERE kind = 'command' AND native_kind IS DISTINCT FROM 'git') AS BIGINT) AS shell_ms,
    CAST(sum(duration_ms) FILTER (WHERE kind = 'command' AND native_kind = 'git') AS BIGINT) AS git_ms
  FROM entries
  GROUP BY session_id, agent_id
),
between_readings AS (
  SELECT
    session_id, agent_id, count(*) AS intervals, count(*) FILTER (WHERE left_to IS NULL) AS untold_intervals,
    CAST(coalesce(sum(model_ms), 0) AS BIGINT) AS model_ms,
    CAST(sum(left_ms) FILTER (WHERE left_to = 'tool') AS BIGINT) AS tool_ms,
    CAST(sum(left_ms) FILTER (WHERE left_to = 'shell') AS BIGINT) AS shell_ms,
    CAST(sum(left_ms) FILTER (WHERE left_to = 'git') AS BIGINT) AS git_ms,
    CAST(sum(left_ms) FILTER (WHERE left_to = 'waiting') AS BIGINT) AS waiting_ms,
    CAST(coalesce(sum(left_ms) FILTER (WHERE left_to IS NULL AND left_ms > 0), 0) AS BIGINT) AS unattributed_ms,
    CAST(coalesce(-sum(left_ms) FILTER (WHERE left_ms < 0), 0) AS BIGINT) AS overrun_ms
  FROM time.intervals
  GROUP BY session_id, agent_id
),
ran AS (
  SELECT
    session_id, agent_id,
    CAST(sum(coalesce(
      duration_ms, CASE WHEN ended_at >= started_at THEN date_diff('millisecond', started_at, ended_at) END
    )) AS BIGINT) AS elapsed_ms
  FROM outcomes
  GROUP BY session_id, agent_id
),
called AS (
  SELECT session_id, agent_id, CAST(sum(duration_ms) AS BIGINT) AS tool_ms
  FROM tool_calls
  GROUP BY session_id, agent_id
)
SELECT
  s.session_id,
  s.agent_id,
  CASE WHEN s.elapsed_ms IS NOT NULL THEN 'clock' WHEN r.elapsed_ms IS NOT NULL THEN 'runs' END AS measured_by,
  s.readings,
  coalesce(s.elapsed_ms, r.elapsed_ms) AS elapsed_ms,
  s.model_ms,
  CASE WHEN b.intervals > 0 THEN coalesce(s.model_ms, 0) - b.model_ms END AS model_outside_ms,
  s.untimed_calls,
  CASE WHEN b.intervals > 0 THEN b.tool_ms ELSE c.tool_ms END AS tool_ms,
  CASE WHEN b.intervals > 0 THEN b.shell_ms ELSE s.shell_ms END AS shell_ms,
  CASE WHEN b.intervals > 0 THEN b.git_ms ELSE s.git_ms END AS git_ms,
  b.waiting_ms,
  b.unattributed_ms,
  b.overrun_ms,
  coalesce(b.intervals, 0) AS intervals,
  coalesce(b.untold_intervals, 0) AS untold_intervals
FROM said s
LEFT JOIN between_readings b ON b.session_id = s.session_id AND b.agent_id = s.agent_id
LEFT JOIN ran r ON r.session_id = s.session_id AND r.agent_id = s.agent_id
LEFT JOIN called c ON c.session_id = s.session_id AND c.agent_id = s.agent_id
ORDER BY s.session_id, s.agent_id <> 'root', s.agent_id
