-- Spend per agent.
-- One row per agent with usage, by session, from the root agent down.
--
-- session_id             VARCHAR  session
-- agent_id               VARCHAR  agent within the session; `root` for the first
-- profile                VARCHAR  profile or agent type it ran under
-- depth                  INTEGER  steps down from the root agent; root is 0
-- origin                 VARCHAR  how it came to be: `root`, `spawn`, `succession` …
-- provider               VARCHAR  the one provider called; null when several or none are named
-- model                  VARCHAR  the one model called; null when several or none are named
-- calls                  BIGINT   model calls, as far as told
-- uncached_input_tokens  BIGINT   input tokens neither read from nor written to a cache
-- cache_read_tokens      BIGINT   input tokens read from a cache
-- cache_write_tokens     BIGINT   input tokens written to a cache for 5 minutes, or without a lifetime told
-- cache_write_1h_tokens  BIGINT   input tokens written to a cache for an hour
-- output_tokens          BIGINT   output tokens, reasoning included
-- reasoning_tokens       BIGINT   part of output_tokens spent on reasoning
-- unsplit_tokens         BIGINT   tokens when only a total is told
-- web_searches           BIGINT   billed searches
-- cost_usd               DOUBLE   US dollars of everything priced; null when nothing is
-- unpriced               BIGINT   usage rows without a price; their cost is not in cost_usd
-- lower_bounds           BIGINT   usage rows known to have cost more than they say
-- recorded_usd           DOUBLE   US dollars the recorder wrote down as billed; null when it wrote none
-- recorded_list_usd      DOUBLE   US dollars it wrote down at list prices; null when it wrote none
-- recorded               BIGINT   usage rows with a recorded figure
WITH sums AS (
    SELECT
        session_id, agent_id,
        CASE WHEN min(provider) = max(provider) THEN min(provider) END AS provider,
        CASE WHEN min(model) = max(model) THEN min(model) END AS model,
        CAST(sum(calls) AS BIGINT) AS calls,
        CAST(sum(uncached_input_tokens) AS BIGINT) AS uncached_input_tokens,
        CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
        CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
        CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h_tokens,
        CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
        CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens,
        CAST(sum(unsplit_tokens) AS BIGINT) AS unsplit_tokens,
        CAST(sum(web_searches) AS BIGINT) AS web_searches,
        sum(cost_usd) AS cost_usd,
        count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced,
        count(*) FILTER (WHERE is_lower_bound) AS lower_bounds,
        sum(recorded_usd) AS recorded_usd,
        sum(recorded_list_usd) AS recorded_list_usd,
        count(recorded_usd) AS recorded
    FROM cost.by_call
    GROUP BY session_id, agent_id
)
SELECT
    sums.session_id, sums.agent_id, a.profile, a.depth, a.origin, sums.provider, sums.model, sums.calls,
    sums.uncached_input_tokens, sums.cache_read_tokens, sums.cache_write_tokens, sums.cache_write_1h_tokens,
    sums.output_tokens, sums.reasoning_tokens, sums.unsplit_tokens, sums.web_searches, sums.cost_usd, sums.unpriced,
    sums.lower_bounds, sums.recorded_usd, sums.recorded_list_usd, sums.recorded
FROM sums
LEFT JOIN agents AS a ON a.session_id = sums.session_id AND a.agent_id = sums.agent_id
ORDER BY sums.session_id NULLS LAST, a.depth NULLS LAST, sums.agent_id NULLS LAST
