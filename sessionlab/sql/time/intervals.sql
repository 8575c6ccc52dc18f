-- Where time went between two successive clock readings of an agent.
-- One row per pair of readings: what its model calls took in between, and to what the rest went where one kind of work
-- alone stands in between; where none stands there the agent was waiting (for a slot, for other agents).
--
-- session_id      VARCHAR  session
-- agent_id        VARCHAR  agent
-- source_id       BIGINT   file
-- from_seq        BIGINT   entry of the reading it begins with
-- until_seq       BIGINT   entry of the reading it ends with
-- from_ms         BIGINT   that reading, ms since the session began
-- until_ms        BIGINT   the other one
-- calls           BIGINT   model calls in between, failed ones and compactions included
-- untimed_calls   BIGINT   those without a recorded duration
-- model_ms        BIGINT   recorded durations of the others; null when there are none
-- tool_results    BIGINT   results of tools in between, those of shell commands apart
-- shell_commands  BIGINT   shell commands in between
-- git_commands    BIGINT   git commands of the harness in between
-- left_ms         BIGINT   the time between the readings less model_ms; below zero where durations exceed it
-- left_to         VARCHAR  what left_ms is: tool, shell, git, waiting; null where it cannot be told
--
-- Nothing can be told of the rest where a call in between has no duration, where several kinds of work share it, and
-- where it is below zero: the clock of the readings and that of the calls disagree. The result of a tool is that of a
-- shell command where it has an exit code, is of the tool `shell`, or stands right behind a command that a model or a
-- program ran.
WITH told AS (
  SELECT
    session_id, source_id, agent_id, seq, kind, native_kind, name, exit_code, elapsed_ms, duration_ms,
    last_value(
      CASE
        WHEN kind = 'command'
          THEN CASE WHEN native_kind = 'git' OR (detail->>'$.origin') = 'hook' THEN NULL ELSE 'shell' END
        WHEN kind IN ('tool_result', 'model_call', 'clock') THEN 'other'
      END IGNORE NULLS
    ) OVER (
      PARTITION BY session_id, source_id, agent_id ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before,
    count(elapsed_ms) OVER (
      PARTITION BY session_id, source_id, agent_id ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS readings
  FROM entries
),
worked AS (
  SELECT
    *,
    CASE
      WHEN kind = 'command' THEN CASE WHEN native_kind = 'git' THEN 'git' ELSE 'shell' END
      WHEN kind = 'tool_result'
        THEN CASE WHEN exit_code IS NOT NULL OR name = 'shell' OR before = 'shell' THEN 'result' ELSE 'tool' END
      WHEN kind IN ('model_call', 'model_error') THEN 'model'
    END AS work
  FROM told
),
stretches AS (
  SELECT
    session_id, agent_id, source_id, readings,
    min(CASE WHEN elapsed_ms IS NOT NULL THEN seq END) AS from_seq,
    max(elapsed_ms) AS from_ms,
    count(*) FILTER (WHERE work = 'model') AS calls,
    count(*) FILTER (WHERE work = 'model' AND duration_ms IS NULL) AS untimed_calls,
    CAST(sum(duration_ms) FILTER (WHERE work = 'model') AS BIGINT) AS model_ms,
    count(*) FILTER (WHERE work = 'tool') AS tool_results,
    count(*) FILTER (WHERE work = 'result') AS shell_results,
    count(*) FILTER (WHERE work = 'shell') AS shell_commands,
    count(*) FILTER (WHERE work = 'git') AS git_commands
  FROM worked
  WHERE readings > 0
  GROUP BY session_id, agent_id, source_id, readings
),
ended AS (
  SELECT
    *,
    lead(from_seq) OVER (PARTITION BY session_id, source_id, agent_id ORDER BY readings) AS until_seq,
    lead(from_ms) OVER (PARTITION BY session_id, source_id, agent_id ORDER BY readings) AS until_ms
  FROM stretches
),
measured AS (
  SELECT *, until_ms - from_ms - coalesce(model_ms, 0) AS left_ms
  FROM ended
  WHERE until_ms IS NOT NULL
)
SELECT
  session_id, agent_id, source_id, from_seq, until_seq, from_ms, until_ms, calls, untimed_calls, model_ms, tool_results,
  shell_commands, git_commands, left_ms,
  CASE
    WHEN untimed_calls > 0 OR left_ms < 0 THEN NULL
    WHEN tool_results = 0 AND shell_commands + shell_results = 0 AND git_commands = 0 THEN 'waiting'
    WHEN shell_commands + shell_results = 0 AND git_commands = 0 THEN 'tool'
    WHEN tool_results = 0 AND git_commands = 0 THEN 'shell'
    WHEN tool_results = 0 AND shell_commands + shell_results = 0 THEN 'git'
  END AS left_to
FROM measured
ORDER BY session_id, source_id, agent_id, from_seq
