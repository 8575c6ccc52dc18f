-- Commands that ran, as their harness recorded them.
-- One row per command.
--
-- session_id             VARCHAR    session
-- agent_id               VARCHAR    agent
-- source_id              BIGINT     file
-- seq                    BIGINT     entry
-- recorded_at            TIMESTAMP  when it was written down
-- run                    BIGINT     run it belongs to
-- turn                   BIGINT     turn it belongs to
-- is_git                 BOOLEAN    the harness's own git
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
  e.session_id,
  e.agent_id,
  e.source_id,
  e.seq,
  e.recorded_at,
  e.run,
  e.turn,
  coalesce(e.native_kind = 'git', false) AS is_git,
  e.name AS command,
  coalesce((e.detail->>'$.origin'), e.voice) AS caller,
  (e.detail->>'$.cwd') AS place,
  e.status,
  e.exit_code,
  left(o.text, 2000) AS stdout,
  coalesce(op.original_bytes, op.body_bytes) AS stdout_bytes,
  op.original_bytes AS stdout_original_bytes,
  left(r.text, 2000) AS stderr,
  coalesce(rp.original_bytes, rp.body_bytes) AS stderr_bytes,
  rp.original_bytes AS stderr_original_bytes
FROM entries e
LEFT JOIN blocks o
  ON o.session_id = e.session_id AND o.source_id = e.source_id AND o.pool = 'text' AND o.ix = e.output_ix
  AND o.block = 0
LEFT JOIN pools op
  ON op.session_id = e.session_id AND op.source_id = e.source_id AND op.pool = 'text' AND op.ix = e.output_ix
LEFT JOIN blocks r
  ON r.session_id = e.session_id AND r.source_id = e.source_id AND r.pool = 'text'
  AND r.ix = TRY_CAST((e.detail->>'$.stderr_ix') AS BIGINT) AND r.block = 0
LEFT JOIN pools rp
  ON rp.session_id = e.session_id AND rp.source_id = e.source_id AND rp.pool = 'text'
  AND rp.ix = TRY_CAST((e.detail->>'$.stderr_ix') AS BIGINT)
WHERE e.kind = 'command'
