-- The model of each call and what its request weighed.
-- One row per span of a model call, failed ones and compactions included. A reply that is written down before its figure
-- (Codex) names no charge: the one charge of its turn speaks for it.
--
-- session_id        VARCHAR  session
-- span_id           VARCHAR  span
-- model             VARCHAR  by the charge, else the run's figure, the configuration in force, the profile, the opening
-- served_by         VARCHAR  who served it
-- context_tokens    BIGINT   all input of the request
-- window_tokens     BIGINT   context window of the model
-- output_tokens     BIGINT   output, reasoning included
-- reasoning_tokens  BIGINT   part of it spent on reasoning
WITH charges AS (
  SELECT
    charge_id, max(model) AS model, max(served_by) AS served_by, max(context_tokens) AS context_tokens,
    max(window_tokens) AS window_tokens, max(output_tokens) AS output_tokens, max(reasoning_tokens) AS reasoning_tokens
  FROM usage
  WHERE grain = 'call' AND standing <> 'check' AND charge_id IS NOT NULL
  GROUP BY charge_id
),
turns AS (
  SELECT
    session_id, agent_id, turn, max(model) AS model, max(served_by) AS served_by,
    max(context_tokens) AS context_tokens, max(window_tokens) AS window_tokens, max(output_tokens) AS output_tokens,
    max(reasoning_tokens) AS reasoning_tokens
  FROM usage
  WHERE grain = 'call' AND standing <> 'check' AND turn IS NOT NULL AND purpose IS DISTINCT FROM 'compaction'
  GROUP BY session_id, agent_id, turn
  HAVING count(*) = 1
),
run_models AS (
  SELECT session_id, agent_id, run, max_by(model, seq) AS model
  FROM usage
  WHERE grain = 'run' AND model IS NOT NULL
  GROUP BY session_id, agent_id, run
),
configured AS (
  SELECT
    session_id, source_id, agent_id, seq, model,
    lead(seq) OVER (PARTITION BY session_id, source_id, agent_id ORDER BY seq) AS until_seq
  FROM raw.configs
  WHERE model IS NOT NULL
),
calls AS (
  SELECT
    session_id, agent_id, span_id, min_by(source_id, place) AS source_id, min_by(seq, place) AS seq, min(run) AS run,
    min(charge_id) AS charge_id, CASE WHEN min(turn) = max(turn) THEN min(turn) END AS turn
  FROM timeline._marks
  WHERE span_kind IN ('model_call', 'model_error') OR (span_kind = 'compaction' AND purpose = 'compaction')
  GROUP BY session_id, agent_id, span_id
)
SELECT
  c.session_id,
  c.span_id,
  coalesce(u.model, t.model, r.model, g.model, a.model, s.model) AS model,
  coalesce(u.served_by, t.served_by) AS served_by,
  coalesce(u.context_tokens, t.context_tokens) AS context_tokens,
  coalesce(u.window_tokens, t.window_tokens) AS window_tokens,
  coalesce(u.output_tokens, t.output_tokens) AS output_tokens,
  coalesce(u.reasoning_tokens, t.reasoning_tokens) AS reasoning_tokens
FROM calls c
LEFT JOIN charges u ON u.charge_id = c.charge_id
LEFT JOIN turns t
  ON c.charge_id IS NULL AND t.session_id = c.session_id AND t.agent_id = c.agent_id AND t.turn = c.turn
LEFT JOIN run_models r ON r.session_id = c.session_id AND r.agent_id = c.agent_id AND r.run = c.run
LEFT JOIN configured g
  ON g.session_id = c.session_id AND g.source_id = c.source_id AND g.agent_id = c.agent_id AND g.seq <= c.seq
  AND c.seq < coalesce(g.until_seq, c.seq + 1)
LEFT JOIN agents a ON a.session_id = c.session_id AND a.agent_id = c.agent_id
LEFT JOIN sessions s ON s.session_id = c.session_id
