-- Shell commands: what a model's tool, a program or a hook ran.
-- One row per command recorded as one, in order. Harnesses that record a command only as a tool call have none here.
--
-- session_id             VARCHAR    session
-- agent_id               VARCHAR    agent
-- seq                    BIGINT     entry
-- recorded_at            TIMESTAMP  when it was written down, UTC
-- run                    BIGINT     run it belongs to
-- turn                   BIGINT     turn it belongs to
-- command                VARCHAR    command line
-- caller                 VARCHAR    who asked for it: tool, program, hook, else who speaks
-- place                  VARCHAR    working folder: `.` is the workspace
-- status                 VARCHAR    ok, failed; null unknown
-- exit_code              BIGINT     as recorded
-- stdout                 VARCHAR    first 2000 characters of what is kept
-- stdout_bytes           BIGINT     bytes it had, before clipping
-- stdout_original_bytes  BIGINT     bytes before clipping, where stdout is only a tail; null when it is whole
-- stderr                 VARCHAR    first 2000 characters of what is kept
-- stderr_bytes           BIGINT     bytes it had, before clipping
-- stderr_original_bytes  BIGINT     bytes before clipping, where stderr is only a tail; null when it is whole
SELECT
  session_id, agent_id, seq, recorded_at, run, turn, command, caller, place, status, exit_code, stdout, stdout_bytes,
  stdout_original_bytes, stderr, stderr_bytes, stderr_original_bytes
FROM log._commands
WHERE NOT is_git
ORDER BY session_id, source_id, seq
