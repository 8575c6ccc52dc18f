-- What had tainted the conversation when.
-- One row per message in force at the end, and per checkpoint, rewrite and extension, in order. A message that no later
-- checkpoint covers is unknown, never clean; so is everything in formats that record no checkpoints.
--
-- session_id      VARCHAR  session
-- ordinal         BIGINT   order of the rows, 0-based
-- kind            VARCHAR  message, checkpoint, rewrite or extend
-- position        BIGINT   index in the conversation; null for others than messages
-- seq             BIGINT   entry that wrote it last
-- run             BIGINT   run of the entry that put it there
-- role            VARCHAR  role of the message
-- voice           VARCHAR  person, harness, model, tool, agent
-- state           VARCHAR  clean, private, untrusted, both, unknown; null for rewrites and extensions
-- private         BOOLEAN  private data had entered; null unknown
-- untrusted       BOOLEAN  content from outside had entered; null unknown
-- covered_by_seq  BIGINT   checkpoint that covers the message
-- learnable       BOOLEAN  a checkpoint covers the message and says it is not untrusted; private is acceptable
-- external        BOOLEAN  a result in it came from outside the machine; null unknown
-- name            VARCHAR  tools called or answered in it
-- excerpt         VARCHAR  first 200 characters; of a rewrite, the length it left
-- agent_id        VARCHAR  agent whose conversation it is
-- source_id       BIGINT   file: two branches of one session stand in two files
WITH introduced AS (
  SELECT
    session_id, source_id, message_ix, min_by(role, seq) AS role, min_by(voice, seq) AS voice
  FROM raw.entries
  WHERE message_ix IS NOT NULL
  GROUP BY session_id, source_id, message_ix
),
said AS (
  SELECT c.session_id, c.source_id, c.agent_id, c.position, left(b.text, 200) AS excerpt
  FROM taint._covered c
  JOIN blocks b
    ON b.session_id = c.session_id AND b.source_id = c.source_id AND b.pool = 'message' AND b.ix = c.message_ix
  WHERE b.text IS NOT NULL AND b.text <> ''
  QUALIFY row_number() OVER (
    PARTITION BY c.session_id, c.source_id, c.agent_id, c.position
    ORDER BY CASE b.kind WHEN 'text' THEN 0 WHEN 'result' THEN 1 WHEN 'call' THEN 2 ELSE 3 END, b.block
  ) = 1
),
every AS (
  SELECT
    c.session_id, c.source_id, c.agent_id, c.place, 'message' AS kind, c.position, c.seq, c.run,
    coalesce(i.role, p.role) AS role,
    -- what only a rewrite tells of was put there by the harness
    coalesce(i.voice, CASE WHEN coalesce(i.role, p.role) = 'assistant' THEN 'model' ELSE 'harness' END) AS voice,
    c.private, c.untrusted, c.covered_by_seq, t.external, t.name, x.excerpt
  FROM taint._covered c
  LEFT JOIN introduced i
    ON i.session_id = c.session_id AND i.source_id = c.source_id AND i.message_ix = c.message_ix
  LEFT JOIN pools p
    ON p.session_id = c.session_id AND p.source_id = c.source_id AND p.pool = 'message' AND p.ix = c.message_ix
  LEFT JOIN taint._tools t
    ON t.session_id = c.session_id AND t.source_id = c.source_id AND t.agent_id = c.agent_id AND t.position = c.position
  LEFT JOIN said x
    ON x.session_id = c.session_id AND x.source_id = c.source_id AND x.agent_id = c.agent_id AND x.position = c.position
  UNION ALL
  SELECT
    e.session_id, e.source_id, e.agent_id, o.place,
    CASE WHEN e.kind = 'taint' THEN 'checkpoint' WHEN e.kind = 'extend' THEN 'extend' ELSE 'rewrite' END,
    NULL, e.seq, e.run, NULL, NULL, e.private, e.untrusted, NULL, NULL,
    CASE WHEN e.kind <> 'taint' THEN coalesce(e.native_kind, e.kind) END,
    CASE
      WHEN e.kind = 'extend' THEN concat('message ', e.position, ' extended')
      WHEN e.kind IN ('rewrite', 'compaction') AND e.messages IS NOT NULL THEN concat(e.messages, ' messages after it')
    END
  FROM timeline._order o
  JOIN raw.entries e ON e.session_id = o.session_id AND e.source_id = o.source_id AND e.seq = o.seq
  WHERE e.kind IN ('taint', 'rewrite', 'compaction', 'extend') OR (e.kind = 'model_call' AND e.purpose = 'compaction')
)
SELECT
  session_id,
  row_number() OVER (
    PARTITION BY session_id
    ORDER BY place, kind = 'message', position NULLS FIRST, agent_id, source_id
  ) - 1 AS ordinal,
  kind,
  position,
  seq,
  run,
  role,
  voice,
  CASE
    WHEN kind IN ('rewrite', 'extend') THEN NULL
    WHEN untrusted IS NULL OR private IS NULL THEN 'unknown'
    WHEN untrusted THEN CASE WHEN private THEN 'both' ELSE 'untrusted' END
    WHEN private THEN 'private'
    ELSE 'clean'
  END AS state,
  private,
  untrusted,
  covered_by_seq,
  CASE WHEN kind = 'message' THEN coalesce(NOT untrusted, false) END AS learnable,
  external,
  name,
  excerpt,
  agent_id,
  source_id
FROM every
ORDER BY session_id, ordinal
