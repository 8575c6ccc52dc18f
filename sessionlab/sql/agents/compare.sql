-- Two runs agent by agent: the same agent, by its origin, side by side.
-- One row per two sessions and origin key; of an agent only one of them had, one row with nothing beside it. Agents
-- without a key are never the same. Ask for both sessions: without them it is every session beside every other.
--
-- session_id          VARCHAR  one session
-- other_session_id    VARCHAR  the other one
-- origin_key          VARCHAR  what both share: the origin spelled from the root down; null when it is not told
-- depth               BIGINT   steps down from the root agent
-- origin              VARCHAR  root, spawn, succession, issue_attempt, reviewer, merge, compaction; null when not told
-- found_in            VARCHAR  both; this (only in session_id), other (only in other_session_id)
-- agent_id            VARCHAR  the agent in the one session; null where it had none
-- other_agent_id      VARCHAR  the agent in the other
-- profile             VARCHAR  profile it ran under
-- other_profile       VARCHAR  the same in the other session
-- model               VARCHAR  model
-- other_model         VARCHAR  the same in the other session
-- status              VARCHAR  running, blocked, done, failed; null unknown
-- other_status        VARCHAR  the same in the other session
-- status_differs      BOOLEAN  whether the two differ; null where one session has no such agent
-- limit_hit           VARCHAR  ceiling that stopped it
-- other_limit_hit     VARCHAR  the same in the other session
-- limit_hit_differs   BOOLEAN  whether the two differ; null where one session has no such agent
-- turns               BIGINT   model calls of its own, compactions apart
-- other_turns         BIGINT   the same in the other session
-- turns_diff          BIGINT   the other less this
-- model_errors        BIGINT   model calls that failed
-- other_model_errors  BIGINT   the same in the other session
-- model_errors_diff   BIGINT   the other less this
-- tool_calls          BIGINT   tool calls, refused ones included
-- other_tool_calls    BIGINT   the same in the other session
-- tool_calls_diff     BIGINT   the other less this
-- tool_errors         BIGINT   tool calls that failed
-- other_tool_errors   BIGINT   the same in the other session
-- tool_errors_diff    BIGINT   the other less this
-- tool_denied         BIGINT   tool calls refused
-- other_tool_denied   BIGINT   the same in the other session
-- tool_denied_diff    BIGINT   the other less this
-- tokens              BIGINT   tokens of every kind
-- other_tokens        BIGINT   the same in the other session
-- tokens_diff         BIGINT   the other less this
-- cost_usd            DOUBLE   US dollars of everything priced
-- other_cost_usd      DOUBLE   the same in the other session
-- cost_diff_usd       DOUBLE   the other less this; null where either holds a row without a price
-- unpriced            BIGINT   usage rows without a price
-- other_unpriced      BIGINT   the same in the other session
-- recorded_usd        DOUBLE   US dollars the recorder wrote down
-- other_recorded_usd  DOUBLE   the same in the other session
-- recorded_diff_usd   DOUBLE   the other less this
-- elapsed_ms          BIGINT   time it took
-- other_elapsed_ms    BIGINT   the same in the other session
-- elapsed_diff_ms     BIGINT   the other less this
-- model_ms            BIGINT   durations of its model calls
-- other_model_ms      BIGINT   the same in the other session
-- model_diff_ms       BIGINT   the other less this
WITH paired AS (
  SELECT
    a.session_id, o.session_id AS other_session_id, a.origin_key, a.nth, a.agent_id, b.agent_id AS other_agent_id
  FROM agents._keys a
  JOIN sessions o ON o.session_id <> a.session_id
  LEFT JOIN agents._keys b ON b.session_id = o.session_id AND b.origin_key = a.origin_key AND b.nth = a.nth
  UNION ALL
  SELECT o.session_id, b.session_id, b.origin_key, b.nth, NULL, b.agent_id
  FROM agents._keys b
  JOIN sessions o ON o.session_id <> b.session_id
  LEFT JOIN agents._keys a ON a.session_id = o.session_id AND a.origin_key = b.origin_key AND a.nth = b.nth
  WHERE a.agent_id IS NULL
)
SELECT
  p.session_id,
  p.other_session_id,
  p.origin_key,
  coalesce(a.depth, b.depth) AS depth,
  coalesce(a.origin, b.origin) AS origin,
  CASE WHEN a.agent_id IS NULL THEN 'other' WHEN b.agent_id IS NULL THEN 'this' ELSE 'both' END AS found_in,
  p.agent_id,
  p.other_agent_id,
  a.profile,
  b.profile AS other_profile,
  a.model,
  b.model AS other_model,
  a.status,
  b.status AS other_status,
  CASE WHEN p.agent_id IS NOT NULL AND p.other_agent_id IS NOT NULL
    THEN a.status IS DISTINCT FROM b.status
  END AS status_differs,
  a.limit_hit,
  b.limit_hit AS other_limit_hit,
  CASE WHEN p.agent_id IS NOT NULL AND p.other_agent_id IS NOT NULL
    THEN a.limit_hit IS DISTINCT FROM b.limit_hit
  END AS limit_hit_differs,
  a.turns,
  b.turns AS other_turns,
  b.turns - a.turns AS turns_diff,
  a.model_errors,
  b.model_errors AS other_model_errors,
  b.model_errors - a.model_errors AS model_errors_diff,
  a.tool_calls,
  b.tool_calls AS other_tool_calls,
  b.tool_calls - a.tool_calls AS tool_calls_diff,
  a.tool_errors,
  b.tool_errors AS other_tool_errors,
  b.tool_errors - a.tool_errors AS tool_errors_diff,
  a.tool_denied,
  b.tool_denied AS other_tool_denied,
  b.tool_denied - a.tool_denied AS tool_denied_diff,
  a.tokens,
  b.tokens AS other_tokens,
  b.tokens - a.tokens AS tokens_diff,
  a.cost_usd,
  b.cost_usd AS other_cost_usd,
  CASE WHEN a.unpriced = 0 AND b.unpriced = 0 THEN b.cost_usd - a.cost_usd END AS cost_diff_usd,
  a.unpriced,
  b.unpriced AS other_unpriced,
  a.recorded_usd,
  b.recorded_usd AS other_recorded_usd,
  b.recorded_usd - a.recorded_usd AS recorded_diff_usd,
  a.elapsed_ms,
  b.elapsed_ms AS other_elapsed_ms,
  b.elapsed_ms - a.elapsed_ms AS elapsed_diff_ms,
  a.model_ms,
  b.model_ms AS other_model_ms,
  b.model_ms - a.model_ms AS model_diff_ms
FROM paired p
LEFT JOIN agents.by_origin a ON a.session_id = p.session_id AND a.agent_id = p.agent_id
LEFT JOIN agents.by_origin b ON b.session_id = p.other_session_id AND b.agent_id = p.other_agent_id
ORDER BY p.session_id, p.other_session_id, p.origin_key NULLS LAST, p.nth NULLS LAST, p.agent_id NULLS LAST,
  p.other_agent_id NULLS LAST
