-- The agents of a session, as the lanes of its timeline.
-- One row per agent of a session, in tree order: root first, then depth first by who made whom and when.
--
-- session_id       VARCHAR  session
-- agent_id         VARCHAR  agent
-- lane             BIGINT   place from the top, 0-based
-- parent_agent_id  VARCHAR  agent that made it; null for root or when not told
-- depth            BIGINT   steps down from the root agent; null when not told
-- origin           VARCHAR  root, spawn, succession, issue_attempt, reviewer, merge, compaction; null when not told
-- origin_key       VARCHAR  the same agent across runs
-- label            VARCHAR  display name with its id, and the issue it worked on
-- model            VARCHAR  model its profile names, else the one its calls name
-- status           VARCHAR  running, blocked, done, failed; null unknown
-- limit_hit        VARCHAR  ceiling that stopped it
-- limit_note       VARCHAR  what was observed of the ceiling, in words: `stopped by the ceiling on turns: 5 of 5`
-- entries          BIGINT   entries it has
-- first_order      BIGINT   place of its first entry on the order axis; null without entries
-- last_order       BIGINT   place of its last entry
-- note             VARCHAR  why it has no entries; null when it has some
WITH active AS (
  SELECT session_id, agent_id, count(*) AS entries, min(place) AS first_order, max(place) AS last_order
  FROM timeline._order
  GROUP BY session_id, agent_id
),
met AS (
  SELECT session_id, agent_id FROM agents
  UNION
  SELECT session_id, agent_id FROM active
),
called AS (
  SELECT session_id, agent_id, max_by(model, seq) AS model
  FROM usage
  WHERE model IS NOT NULL AND standing <> 'check'
  GROUP BY session_id, agent_id
),
ran AS (
  SELECT session_id, agent_id FROM usage
  UNION
  SELECT a.session_id, a.agent_id
  FROM agents a
  JOIN tool_calls c ON c.session_id = a.session_id AND c.call_id = a.spawn_call_id
  WHERE c.status = 'ok'
)
SELECT
  m.session_id,
  m.agent_id,
  row_number() OVER (
    PARTITION BY m.session_id
    ORDER BY m.agent_id <> 'root' AND NOT coalesce(t.is_root, false), t.path NULLS LAST, x.first_order, m.agent_id
  ) - 1 AS lane,
  a.parent_agent_id,
  CAST(coalesce(a.depth, CASE WHEN t.is_root OR m.agent_id = 'root' THEN 0 END) AS BIGINT) AS depth,
  coalesce(a.origin, CASE WHEN t.is_root OR m.agent_id = 'root' THEN 'root' END) AS origin,
  a.origin_key,
  concat(
    coalesce(a.profile, m.agent_id),
    CASE WHEN lower(a.profile) <> lower(m.agent_id) THEN concat(' (', m.agent_id, ')') END,
    CASE WHEN a.issue IS NOT NULL THEN concat(' · ', a.issue) END
  ) AS label,
  coalesce(a.model, c.model) AS model,
  a.status,
  a.limit_hit,
  CASE WHEN a.limit_hit IS NOT NULL THEN concat(
    'stopped by the ceiling on ', replace(a.limit_hit, '_', ' '),
    CASE WHEN a.limit_observed IS NOT NULL THEN concat(
      ': ', CASE WHEN a.limit_hit = 'cost' THEN '$' END,
      regexp_replace(CAST(a.limit_observed AS VARCHAR), '[.]0$', '')
    ) END,
    CASE WHEN a.limit_threshold IS NOT NULL THEN concat(
      ' of ', CASE WHEN a.limit_hit = 'cost' THEN '$' END,
      regexp_replace(CAST(a.limit_threshold AS VARCHAR), '[.]0$', ''),
      CASE WHEN a.limit_hit = 'runtime' THEN ' s' END
    ) END,
    CASE WHEN a.limit_window IS NOT NULL THEN concat(' over ', a.limit_window, ' calls') END,
    CASE WHEN a.limit_agent_id <> m.agent_id THEN concat(', observed by ', a.limit_agent_id) END
  ) END AS limit_note,
  coalesce(x.entries, 0) AS entries,
  x.first_order,
  x.last_order,
  CASE
    WHEN x.entries > 0 THEN NULL
    WHEN r.agent_id IS NOT NULL THEN 'it ran, but the files read do not hold its record: no entries'
    WHEN f.state = 'short' AND a.status IS NULL THEN 'capture stopped before it ran: no entries recorded'
    WHEN sum(x.entries) OVER (PARTITION BY m.session_id) IS NULL THEN 'the files read hold no entries of this session'
    ELSE 'created but never ran: no entries recorded'
  END AS note
FROM met m
LEFT JOIN active x ON x.session_id = m.session_id AND x.agent_id = m.agent_id
LEFT JOIN agents a ON a.session_id = m.session_id AND a.agent_id = m.agent_id
LEFT JOIN timeline._tree t ON t.session_id = m.session_id AND t.agent_id = m.agent_id
LEFT JOIN called c ON c.session_id = m.session_id AND c.agent_id = m.agent_id
LEFT JOIN ran r ON r.session_id = m.session_id AND r.agent_id = m.agent_id
LEFT JOIN sources f ON f.source_id = a.source_id
ORDER BY m.session_id, lane
