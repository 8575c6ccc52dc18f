-- Tool calls that were refused: a person, a policy or a hook at work, not an error.
-- One row per refused call, in order.
--
-- session_id      VARCHAR    session
-- agent_id        VARCHAR    agent
-- source_id       BIGINT     file
-- seq             BIGINT     entry of the call
-- called_at       TIMESTAMP  when the call was recorded, UTC
-- run             BIGINT     run it belongs to
-- turn            BIGINT     turn it belongs to
-- name            VARCHAR    tool
-- refused_by      VARCHAR    person, policy or hook; null when not told
-- reason          VARCHAR    recorded word for why
-- arguments       VARCHAR    what was asked for
-- message         VARCHAR    what the model was told: first 2000 characters
-- original_bytes  BIGINT     bytes of it before clipping, where only a tail is kept; null when it is whole
SELECT
  session_id, agent_id, source_id, seq, called_at, run, turn, name, refused_by, reason, arguments, output AS message,
  original_bytes
FROM log._outputs
WHERE status = 'refused'
ORDER BY session_id, source_id, seq, ordinal
