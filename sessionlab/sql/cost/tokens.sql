-- Tokens and spend per day and kind of token, in the long form a stacked chart draws.
-- One row per local day and kind that was used, in order of days; what has no date stands last.
--
-- day       DATE     local day of the call, or of its session where no call is dated; null: neither is
-- kind      VARCHAR  `uncached input`, `cache read`, `cache write`, `output`; `unsplit` where only a total is told
-- tokens    BIGINT   tokens of that kind
-- cost_usd  DOUBLE   US dollars they cost, searches and fees apart; null when nothing is priced
-- unpriced  BIGINT   usage rows with tokens of that kind but without a price; their cost is not in cost_usd
WITH calls AS (
    SELECT
        CAST(timezone(settings.tz, timezone('UTC', c.called_at)) AS DATE) AS day, c.cost_usd IS NOT NULL AS is_priced,
        c.uncached_input_tokens, c.input_cost_usd, c.cache_read_tokens, c.cache_read_cost_usd,
        CASE
            WHEN c.cache_write_tokens IS NULL THEN c.cache_write_1h_tokens
            ELSE c.cache_write_tokens + coalesce(c.cache_write_1h_tokens, 0)
        END AS write_tokens,
        c.cache_write_cost_usd, c.output_tokens, c.output_cost_usd,
        CASE WHEN c.uncached_input_tokens IS NULL AND c.output_tokens IS NULL THEN c.unsplit_tokens END
        AS unsplit_tokens
    FROM cost.by_call AS c
    CROSS JOIN settings
),
kinds AS (
    SELECT
        1 AS place, 'uncached input' AS kind, day, is_priced, uncached_input_tokens AS tokens,
        input_cost_usd AS part_usd
    FROM calls
    UNION ALL
    SELECT 2, 'cache read', day, is_priced, cache_read_tokens, cache_read_cost_usd FROM calls
    UNION ALL
    SELECT 3, 'cache write', day, is_priced, write_tokens, cache_write_cost_usd FROM calls
    UNION ALL
    SELECT 4, 'output', day, is_priced, output_tokens, output_cost_usd FROM calls
    UNION ALL
    SELECT 5, 'unsplit', day, is_priced, unsplit_tokens, NULL FROM calls
)
SELECT
    day, kind, CAST(sum(tokens) AS BIGINT) AS tokens,
    sum(part_usd) FILTER (WHERE is_priced) AS cost_usd,
    count(*) FILTER (WHERE NOT is_priced AND tokens > 0) AS unpriced
FROM kinds
WHERE tokens IS NOT NULL
GROUP BY day, kind, place
ORDER BY day NULLS LAST, place NULLS LAST
