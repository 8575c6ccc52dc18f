-- Spend per model.
-- One row per provider and model, dearest first.
--
-- provider               VARCHAR  provider called
-- model                  VARCHAR  model called
-- sessions               BIGINT   sessions charged
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
SELECT
    provider, model,
    count(DISTINCT session_id) AS sessions,
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
GROUP BY provider, model
ORDER BY cost_usd DESC NULLS LAST, provider NULLS LAST, model NULLS LAST
