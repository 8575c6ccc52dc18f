-- Runs as spans: requests worked to their end.
-- One row per run of an agent, from its first entry to its last; none where an agent is one run and its own span.
--
-- session_id   VARCHAR    session
-- agent_id     VARCHAR    agent
-- run          BIGINT     run, 1-based
-- status       VARCHAR    ok, failed, interrupted (cut short by a budget too); null unknown
-- stop_cause   VARCHAR    why it stopped, the recorded word
-- begin_order  BIGINT     place of its first entry
-- end_order    BIGINT     place of its last
-- begin_ms     DOUBLE     clock of the agent at its beginning
-- end_ms       DOUBLE     clock at its end
-- begin_at     TIMESTAMP  when it began, as told, else as recorded
-- end_at       TIMESTAMP  when it ended, as told, else as recorded
-- duration_ms  BIGINT     as recorded
WITH told AS (
  SELECT
    o.session_id, o.agent_id, o.run, count(*) AS outcomes, max(o.seq) AS seq,
    max_by(o.stop_class, o.seq) AS stop_class, max_by(o.stop_cause, o.seq) AS stop_cause,
    min(o.started_at) AS started_at, max(o.ended_at) AS ended_at, max_by(o.duration_ms, o.seq) AS duration_ms
  FROM raw.outcomes o
  LEFT JOIN sources f ON f.source_id = o.source_id
  WHERE f.superseded_by IS NULL
  GROUP BY o.session_id, o.agent_id, o.run
),
reach AS (
  SELECT
    o.session_id, o.agent_id, e.run, min(o.place) AS begin_order, max(o.place) AS end_order,
    min(o.begin_ms) AS begin_ms, max(o.end_ms) AS end_ms, min(o.recorded_at) AS begin_at, max(o.recorded_at) AS end_at
  FROM timeline._order o
  JOIN raw.entries e ON e.session_id = o.session_id AND e.source_id = o.source_id AND e.seq = o.seq
  WHERE e.run IS NOT NULL
  GROUP BY o.session_id, o.agent_id, e.run
)
SELECT
  r.session_id,
  r.agent_id,
  r.run,
  CASE t.stop_class WHEN 'completed' THEN 'ok' WHEN 'cut_short' THEN 'interrupted' ELSE t.stop_class END AS status,
  t.stop_cause,
  r.begin_order,
  r.end_order,
  r.begin_ms,
  r.end_ms,
  coalesce(t.started_at, r.begin_at) AS begin_at,
  coalesce(t.ended_at, r.end_at) AS end_at,
  t.duration_ms
FROM reach r
LEFT JOIN told t ON t.session_id = r.session_id AND t.agent_id = r.agent_id AND t.run = r.run
WHERE t.outcomes IS NULL OR t.seq IS NOT NULL
