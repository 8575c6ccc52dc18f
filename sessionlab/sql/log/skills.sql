-- Calls of skill tools: which skills a model used.
-- One row per call of a tool whose name has `skill` in it (case ignored), in order.
--
-- session_id      VARCHAR    session
-- agent_id        VARCHAR    agent
-- source_id       BIGINT     file
-- seq             BIGINT     entry of the call
-- called_at       TIMESTAMP  when the call was recorded, UTC
-- run             BIGINT     run it belongs to
-- turn            BIGINT     turn it belongs to
-- name            VARCHAR    tool
-- arguments       VARCHAR    what it was called with
-- status          VARCHAR    as in `tool_calls`
-- output          VARCHAR    first 2000 characters of the result
-- original_bytes  BIGINT     bytes of it before clipping, where only a tail is kept; null when it is whole
SELECT session_id, agent_id, source_id, seq, called_at, run, turn, name, arguments, status, output, original_bytes
FROM log._outputs
WHERE lower(name) LIKE '%skill%'
ORDER BY session_id, source_id, seq, ordinal
