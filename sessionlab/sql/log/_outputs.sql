-- Tool calls with the beginning of what they gave back.
-- One row per tool call.
--
-- session_id      VARCHAR    session
-- agent_id        VARCHAR    agent
-- source_id       BIGINT     file
-- seq             BIGINT     entry of the call
-- ordinal         BIGINT     position of the call in its entry
-- called_at       TIMESTAMP  when the call was recorded
-- run             BIGINT     run it belongs to
-- turn            BIGINT     turn it belongs to
-- name            VARCHAR    tool
-- caller          VARCHAR    model, program or harness
-- arguments       VARCHAR    arguments
-- status          VARCHAR    as in `tool_calls`
-- refused_by      VARCHAR    who refused
-- reason          VARCHAR    recorded word for why
-- exit_code       BIGINT     of a command
-- output          VARCHAR    first 2000 characters of the result
-- original_bytes  BIGINT     bytes of the result before clipping, where only a tail is kept; null when it is whole
SELECT
  t.session_id, t.agent_id, t.source_id, t.seq, t.ordinal, t.called_at, t.run, t.turn, t.name, t.caller, t.arguments,
  t.status, t.refused_by, t.reason, t.exit_code, left(b.text, 2000) AS output,
  p.original_bytes
FROM tool_calls t
LEFT JOIN blocks b
  ON b.session_id = t.session_id AND b.source_id = t.source_id AND b.pool = t.output_pool AND b.ix = t.output_ix
  AND b.block = coalesce(t.output_block, 0)
LEFT JOIN pools p
  ON p.session_id = t.session_id AND p.source_id = t.source_id AND p.pool = t.output_pool AND p.ix = t.output_ix
