-- Whether the result of each tool call came from outside the machine, as told and as it must be taken.
-- One row per tool call, in order.
--
-- session_id          VARCHAR    session
-- agent_id            VARCHAR    agent
-- source_id           BIGINT     file
-- seq                 BIGINT     entry of the call
-- result_seq          BIGINT     entry of its result; null when none came
-- called_at           TIMESTAMP  when the call was recorded, UTC
-- run                 BIGINT     run it belongs to
-- name                VARCHAR    tool
-- status              VARCHAR    as in `tool_calls`
-- external            BOOLEAN    the result came from outside the machine, as recorded; null: not told
-- effective_external  BOOLEAN    the same with what is not told taken as outside (mecha 12.7); null where no result came
SELECT
  session_id, agent_id, source_id, seq, result_seq, called_at, run, name, status, external,
  CASE WHEN result_seq IS NOT NULL THEN coalesce(external, true) END AS effective_external
FROM tool_calls
ORDER BY session_id, source_id, seq, ordinal
