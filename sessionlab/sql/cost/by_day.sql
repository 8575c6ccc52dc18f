-- Spend per day and model.
-- One row per local day, provider and model, in order of days; what has no date stands last.
--
-- day                    DATE     local day of the call, or of its session where no call is dated; null: neither is
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
WITH calls AS (
    SELECT CAST(timezone(settings.tz, timezone('UTC', c.called_at)) AS DATE) AS day, c.*
    FROM cost.by_call AS c
    CROSS JOIN settings
)
SELECT
    day, provider, model,
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
    count(*) FILTER (WHERE is_lower_bound) AS lower_bounds
FROM calls
GROUP BY day, provider, model
ORDER BY day NULLS LAST, provider NULLS LAST, model NULLS LAST
