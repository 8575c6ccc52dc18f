-- How much pooling saves: what was sent or quoted, against what is stored once.
-- One row per session and pool.
--
-- session_id    VARCHAR  session
-- pool          VARCHAR  message, toolset, text, response
-- bodies        BIGINT   distinct bodies
-- stored_bytes  BIGINT   their bytes, each once; null when none is told
-- sent_bytes    BIGINT   messages: bytes of every list sent to a model; toolsets: of every offer; texts: of every
--                        entry that quotes one; null where requests are not recorded
-- ratio         DOUBLE   sent by stored
WITH stored AS (
  SELECT session_id, pool, count(*) AS bodies, CAST(sum(body_bytes) AS BIGINT) AS stored_bytes
  FROM pools
  GROUP BY session_id, pool
),
quotes AS (
  SELECT session_id, source_id, 'toolset' AS pool, toolset_ix AS ix
  FROM entries
  WHERE kind IN ('model_call', 'model_error')
  UNION ALL
  SELECT session_id, source_id, 'text', output_ix FROM entries WHERE kind IN ('tool_result', 'command')
  UNION ALL
  SELECT session_id, source_id, 'text', TRY_CAST((detail->>'$.stderr_ix') AS BIGINT)
  FROM entries
  WHERE kind = 'command'
  UNION ALL
  SELECT session_id, source_id, 'text', TRY_CAST((detail->>'$.summary_ix') AS BIGINT)
  FROM entries
  WHERE kind = 'tool_result'
  UNION ALL
  SELECT session_id, source_id, 'text', TRY_CAST((detail->>'$.data_text_ix') AS BIGINT)
  FROM entries
  WHERE kind = 'tool_result'
),
sent AS (
  SELECT q.session_id, q.pool, CAST(sum(p.body_bytes) AS BIGINT) AS sent_bytes
  FROM quotes q
  JOIN pools p ON p.session_id = q.session_id AND p.source_id = q.source_id AND p.pool = q.pool AND p.ix = q.ix
  GROUP BY q.session_id, q.pool
  UNION ALL
  SELECT s.session_id, 'message', CAST(sum(s.sent_bytes) AS BIGINT)
  FROM pools._sent s
  JOIN entries e ON e.session_id = s.session_id AND e.source_id = s.source_id AND e.seq = s.seq
  GROUP BY s.session_id
)
SELECT
  t.session_id,
  t.pool,
  t.bodies,
  t.stored_bytes,
  s.sent_bytes,
  CAST(s.sent_bytes AS DOUBLE) / nullif(t.stored_bytes, 0) AS ratio
FROM stored t
LEFT JOIN sent s ON s.session_id = t.session_id AND s.pool = t.pool
ORDER BY t.session_id, t.pool
