-- The rollup of mecha 10.3, for every format: sessions by the pair their header names, at today's rates.
-- One row per provider and model, in order of that pair; a session without usage counts, with zeros.
--
-- provider                     VARCHAR  provider of the session's header; of the usage where the header names no pair
-- model                        VARCHAR  model of the session's header; of the usage where the header names no pair
-- sessions                     BIGINT   sessions
-- turns                        BIGINT   model calls, compactions apart
-- input_tokens                 BIGINT   input tokens neither read from nor written to a cache
-- output_tokens                BIGINT   output tokens
-- cache_creation_input_tokens  BIGINT   input tokens written to a cache, both lifetimes
-- cache_read_input_tokens      BIGINT   input tokens read from a cache
-- cost_usd                     DOUBLE   US dollars at the rates in force now; null when unpriced
-- unpriced                     BIGINT   ledger rows without a price; their cost is not in cost_usd
SELECT
    provider, model,
    count(DISTINCT session_id) AS sessions,
    CAST(coalesce(sum(
        CASE WHEN grain = 'call' AND coalesce(purpose, 'agent') = 'agent' THEN 1 WHEN grain <> 'call' THEN calls END
    ), 0) AS BIGINT) AS turns,
    CAST(CASE WHEN count(grain) = 0 THEN 0 ELSE sum(uncached_input_tokens) END AS BIGINT) AS input_tokens,
    CAST(CASE WHEN count(grain) = 0 THEN 0 ELSE sum(output_tokens) END AS BIGINT) AS output_tokens,
    CAST(CASE
        WHEN count(grain) = 0 THEN 0
        WHEN count(cache_write_tokens) + count(cache_write_1h_tokens) > 0
            THEN coalesce(sum(cache_write_tokens), 0) + coalesce(sum(cache_write_1h_tokens), 0)
    END AS BIGINT) AS cache_creation_input_tokens,
    CAST(CASE WHEN count(grain) = 0 THEN 0 ELSE sum(cache_read_tokens) END AS BIGINT) AS cache_read_input_tokens,
    sum(cost_usd) AS cost_usd,
    count(*) FILTER (WHERE cost_usd IS NULL AND grain IS NOT NULL) AS unpriced
FROM cost._priced
WHERE basis = 'header'
GROUP BY provider, model
ORDER BY provider NULLS LAST, model NULLS LAST
