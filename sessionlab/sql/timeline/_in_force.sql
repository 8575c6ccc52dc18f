-- The conversation of an agent as it stands at the end of its file.
-- One row per message in force: the last one written at each position.
--
-- session_id       VARCHAR  session
-- source_id        BIGINT   file
-- agent_id         VARCHAR  agent whose conversation it is
-- position         BIGINT   index in the conversation, 0-based
-- message_ix       BIGINT   the message, in the source's message pool
-- put_seq          BIGINT   entry that put a message there
-- seq              BIGINT   entry that wrote it last: later where blocks were added to it
-- place            BIGINT   position of put_seq on the order axis
-- last_change_seq  BIGINT   the same as seq, or the last rewrite of the whole conversation where that is later
--
-- Computed inside one file; then what another file of the session tells too is dropped. Where a format records no
-- positions, the conversation is what was said since the last compaction, in order.
WITH writes AS (
  SELECT session_id, source_id, agent_id, seq, position, message_ix, false AS is_extended
  FROM raw.entries
  WHERE kind = 'message' AND position IS NOT NULL
  UNION ALL
  SELECT w.session_id, w.source_id, w.agent_id, w.seq, w.position, w.message_ix, e.kind = 'extend'
  FROM raw.windows w
  JOIN raw.entries e ON e.session_id = w.session_id AND e.source_id = w.source_id AND e.seq = w.seq
  WHERE w.queue = 'agent' AND w.message_ix IS NOT NULL
),
lists AS (
  SELECT session_id, source_id, agent_id FROM writes GROUP BY session_id, source_id, agent_id
),
ends AS (
  SELECT
    session_id, source_id, agent_id,
    max_by(messages, seq) FILTER (WHERE kind IN ('message', 'rewrite', 'compaction', 'extend') AND messages IS NOT NULL)
      AS messages,
    max(seq) FILTER (WHERE kind IN ('rewrite', 'compaction')) AS rewritten_seq,
    max(seq) FILTER (WHERE kind = 'compaction') AS compacted_seq
  FROM raw.entries
  GROUP BY session_id, source_id, agent_id
),
placed AS (
  SELECT
    w.session_id, w.source_id, w.agent_id, w.position,
    max_by(w.message_ix, w.seq) AS message_ix,
    max(w.seq) FILTER (WHERE NOT w.is_extended) AS put_seq,
    max(w.seq) AS seq
  FROM writes w
  GROUP BY w.session_id, w.source_id, w.agent_id, w.position
),
standing AS (
  SELECT p.*
  FROM placed p
  JOIN ends e ON e.session_id = p.session_id AND e.source_id = p.source_id AND e.agent_id = p.agent_id
  LEFT JOIN timeline._lengths n
    ON n.session_id = p.session_id AND n.source_id = p.source_id AND n.agent_id = p.agent_id AND n.queue = 'agent'
    AND n.until_seq IS NULL
  WHERE p.position < coalesce(e.messages, n.messages)
  UNION ALL
  SELECT
    c.session_id, c.source_id, c.agent_id,
    row_number() OVER (PARTITION BY c.session_id, c.source_id, c.agent_id ORDER BY c.seq) - 1,
    c.message_ix, c.seq, c.seq
  FROM raw.entries c
  JOIN ends e ON e.session_id = c.session_id AND e.source_id = c.source_id AND e.agent_id = c.agent_id
  LEFT JOIN lists l ON l.session_id = c.session_id AND l.source_id = c.source_id AND l.agent_id = c.agent_id
  WHERE c.message_ix IS NOT NULL AND l.agent_id IS NULL AND c.seq >= coalesce(e.compacted_seq, 0)
)
SELECT
  s.session_id,
  s.source_id,
  s.agent_id,
  s.position,
  s.message_ix,
  s.put_seq,
  s.seq,
  o.place,
  greatest(s.seq, coalesce(e.rewritten_seq, s.seq)) AS last_change_seq
FROM standing s
JOIN ends e ON e.session_id = s.session_id AND e.source_id = s.source_id AND e.agent_id = s.agent_id
JOIN timeline._order o ON o.session_id = s.session_id AND o.source_id = s.source_id AND o.seq = s.put_seq
