-- Everything that failed: model calls, tool calls, commands, hooks, checks, steps. Never what was refused.
-- One row per failure, in order.
--
-- session_id      VARCHAR    session
-- agent_id        VARCHAR    agent
-- source_id       BIGINT     file
-- seq             BIGINT     entry that failed
-- recorded_at     TIMESTAMP  when it was recorded, UTC
-- run             BIGINT     run it belongs to
-- turn            BIGINT     turn it belongs to
-- kind            VARCHAR    model_error, tool_call, command, else the kind of the entry
-- name            VARCHAR    tool, command line, hook or check; null for a model call
-- reason          VARCHAR    recorded word for why
-- exit_code       BIGINT     of a command
-- message         VARCHAR    what it said: first 2000 characters; null when nothing is told
-- original_bytes  BIGINT     bytes of it before clipping, where only a tail is kept; null when it is whole
WITH failed AS (
  SELECT
    e.session_id, e.agent_id, e.source_id, e.seq, e.recorded_at, e.run, e.turn, e.kind,
    CASE WHEN e.kind <> 'model_error' THEN e.name END AS name, e.reason, e.exit_code,
    coalesce((e.detail->>'$.message'), b.text) AS message,
    CASE WHEN (e.detail->>'$.message') IS NULL THEN p.original_bytes END AS original_bytes
  FROM entries e
  LEFT JOIN blocks b
    ON b.session_id = e.session_id AND b.source_id = e.source_id
    AND b.pool = CASE WHEN e.message_ix IS NOT NULL THEN 'message' ELSE 'text' END
    AND b.ix = coalesce(e.message_ix, e.output_ix)
  LEFT JOIN pools p
    ON p.session_id = b.session_id AND p.source_id = b.source_id AND p.pool = b.pool AND p.ix = b.ix
  WHERE (e.kind = 'model_error' OR e.status = 'failed')
    AND e.kind NOT IN ('tool_call', 'tool_result', 'command', 'message', 'run_end')
  QUALIFY row_number() OVER (PARTITION BY e.session_id, e.source_id, e.seq ORDER BY b.block NULLS FIRST) = 1
)
SELECT
  session_id, agent_id, source_id, seq, recorded_at, run, turn, kind, name, reason, exit_code,
  left(message, 2000) AS message, original_bytes
FROM failed
UNION ALL
SELECT
  session_id, agent_id, source_id, seq, called_at, run, turn, 'tool_call', name, reason, exit_code, output,
  original_bytes
FROM log._outputs
WHERE status = 'failed'
UNION ALL
SELECT
  session_id, agent_id, source_id, seq, recorded_at, run, turn, 'command', command, NULL, exit_code,
  coalesce(nullif(stderr, ''), stdout),
  CASE WHEN nullif(stderr, '') IS NOT NULL THEN stderr_original_bytes ELSE stdout_original_bytes END
FROM log._commands
WHERE status = 'failed'
ORDER BY session_id, source_id, seq, kind, name
