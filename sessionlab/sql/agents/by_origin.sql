-- The agents of each session by where they come from, with what each did, spent and took.
-- One row per agent of a session, told or met in its entries, from the root agent down by origin key. Figures of an
-- agent of which no entry is recorded are null: it may have run unseen.
--
-- session_id             VARCHAR  session
-- origin_key             VARCHAR  the same agent across runs: its origin spelled from the root down; null when not told
-- nth                    BIGINT   of several agents of one key (a damaged recording) which, 1-based; null without a key
-- agent_id               VARCHAR  agent within the session
-- parent_agent_id        VARCHAR  agent that made it; null for root or when not told
-- depth                  BIGINT   steps down from the root agent; root is 0
-- origin                 VARCHAR  root, spawn, succession, issue_attempt, reviewer, merge, compaction; null: not told
-- issue                  VARCHAR  issue it worked on, reviewed or merged
-- profile_id             VARCHAR  slug of the profile it ran under
-- profile                VARCHAR  its display name
-- model                  VARCHAR  model its profile names, else the one model its calls name
-- status                 VARCHAR  running, blocked, done, failed; null unknown
-- stop_cause             VARCHAR  why its last run stopped, the recorded word
-- limit_hit              VARCHAR  ceiling that stopped it: turns, runtime, cost …
-- limit_threshold        DOUBLE   the ceiling, in the limit's unit
-- limit_observed         DOUBLE   what was observed
-- limit_agent_id         VARCHAR  agent that observed it
-- entries                BIGINT   entries it has
-- turns                  BIGINT   model calls of its own, compactions apart; null when not told
-- calls                  BIGINT   model calls charged, compactions included, as far as told
-- compactions            BIGINT   summaries taken
-- model_errors           BIGINT   model calls that failed
-- tool_calls             BIGINT   tool calls, refused ones included
-- tool_errors            BIGINT   tool calls that failed; refusals are not among them
-- tool_denied            BIGINT   tool calls refused
-- tokens                 BIGINT   tokens of every kind; null when none is told
-- uncached_input_tokens  BIGINT   input tokens neither read from nor written to a cache
-- cache_read_tokens      BIGINT   input tokens read from a cache
-- output_tokens          BIGINT   output tokens, reasoning included
-- cost_usd               DOUBLE   US dollars of everything priced; null when nothing is
-- unpriced               BIGINT   usage rows without a price; their cost is not in cost_usd
-- lower_bounds           BIGINT   usage rows known to have cost more than they say
-- recorded_usd           DOUBLE   US dollars the recorder wrote down as billed; null when it wrote none
-- recorded_list_usd      DOUBLE   US dollars it wrote down at list prices
-- elapsed_ms             BIGINT   from its first clock reading to its last, else what its runs took
-- model_ms               BIGINT   durations of its model calls
WITH acted AS (
  SELECT
    session_id, agent_id, count(*) AS entries, count(*) FILTER (WHERE kind = 'model_error') AS model_errors,
    count(DISTINCT CASE WHEN turn IS NOT NULL THEN concat(run, '/', turn) END) AS turns
  FROM entries
  GROUP BY session_id, agent_id
),
ended AS (
  SELECT
    session_id, agent_id, CAST(sum(turns) AS BIGINT) AS turns, CAST(sum(compactions) AS BIGINT) AS compactions,
    max_by(stop_cause, coalesce(run, 0)) AS stop_cause
  FROM outcomes
  GROUP BY session_id, agent_id
),
called AS (
  SELECT
    session_id, agent_id, count(*) AS tool_calls, count(*) FILTER (WHERE status = 'failed') AS tool_errors,
    count(*) FILTER (WHERE status = 'refused') AS tool_denied
  FROM tool_calls
  GROUP BY session_id, agent_id
),
charged AS (
  SELECT
    *,
    CASE
      WHEN coalesce(
        uncached_input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens
      ) IS NOT NULL
        THEN coalesce(uncached_input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)
          + coalesce(cache_write_1h_tokens, 0) + coalesce(output_tokens, 0)
      ELSE unsplit_tokens
    END AS tokens
  FROM cost.by_call
),
spent AS (
  SELECT
    session_id, agent_id,
    CASE WHEN min(model) = max(model) THEN min(model) END AS model,
    CAST(sum(calls) AS BIGINT) AS calls,
    CAST(sum(tokens) AS BIGINT) AS tokens,
    CAST(sum(uncached_input_tokens) AS BIGINT) AS uncached_input_tokens,
    CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
    CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
    sum(cost_usd) AS cost_usd,
    count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced,
    count(*) FILTER (WHERE is_lower_bound) AS lower_bounds,
    sum(recorded_usd) AS recorded_usd,
    sum(recorded_list_usd) AS recorded_list_usd
  FROM charged
  GROUP BY session_id, agent_id
),
placed AS (
  SELECT
    k.session_id, k.agent_id, k.origin_key, k.nth, a.parent_agent_id,
    CAST(coalesce(a.depth, CASE WHEN k.agent_id = 'root' THEN 0 END) AS BIGINT) AS depth,
    coalesce(a.origin, CASE WHEN k.agent_id = 'root' THEN 'root' END) AS origin,
    a.issue, a.profile_id, a.profile, a.model, a.status, a.limit_hit, a.limit_threshold, a.limit_observed,
    a.limit_agent_id
  FROM agents._keys k
  LEFT JOIN agents a ON a.session_id = k.session_id AND a.agent_id = k.agent_id
)
SELECT
  p.session_id,
  p.origin_key,
  p.nth,
  p.agent_id,
  p.parent_agent_id,
  p.depth,
  p.origin,
  p.issue,
  p.profile_id,
  p.profile,
  coalesce(p.model, s.model) AS model,
  p.status,
  e.stop_cause,
  p.limit_hit,
  p.limit_threshold,
  p.limit_observed,
  p.limit_agent_id,
  coalesce(a.entries, 0) AS entries,
  CASE WHEN a.entries > 0 OR s.calls > 0 THEN coalesce(nullif(a.turns, 0), e.turns) END AS turns,
  s.calls,
  CASE WHEN a.entries > 0 THEN e.compactions END AS compactions,
  a.model_errors,
  CASE WHEN a.entries > 0 THEN coalesce(c.tool_calls, 0) END AS tool_calls,
  CASE WHEN a.entries > 0 THEN coalesce(c.tool_errors, 0) END AS tool_errors,
  CASE WHEN a.entries > 0 THEN coalesce(c.tool_denied, 0) END AS tool_denied,
  s.tokens,
  s.uncached_input_tokens,
  s.cache_read_tokens,
  s.output_tokens,
  s.cost_usd,
  CASE WHEN a.entries > 0 OR s.calls > 0 THEN coalesce(s.unpriced, 0) END AS unpriced,
  CASE WHEN a.entries > 0 OR s.calls > 0 THEN coalesce(s.lower_bounds, 0) END AS lower_bounds,
  s.recorded_usd,
  s.recorded_list_usd,
  t.elapsed_ms,
  t.model_ms
FROM placed p
LEFT JOIN acted a ON a.session_id = p.session_id AND a.agent_id = p.agent_id
LEFT JOIN ended e ON e.session_id = p.session_id AND e.agent_id = p.agent_id
LEFT JOIN called c ON c.session_id = p.session_id AND c.agent_id = p.agent_id
LEFT JOIN spent s ON s.session_id = p.session_id AND s.agent_id = p.agent_id
LEFT JOIN time.by_agent t ON t.session_id = p.session_id AND t.agent_id = p.agent_id
ORDER BY p.session_id, p.origin_key NULLS LAST, p.nth NULLS LAST, p.agent_id
