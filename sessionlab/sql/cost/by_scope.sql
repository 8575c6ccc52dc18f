-- Both sums of a session: every model call, and its turns alone, as gg's own totals count (gg 6.3).
-- One row per session with usage and scope. `turns` leaves out compactions, and replies cut off at their length, which
-- gg rejects whole; figures that cover more than a call stand in both.
--
-- session_id             VARCHAR  session
-- scope                  VARCHAR  all, turns
-- calls                  BIGINT   model calls, as far as told
-- uncached_input_tokens  BIGINT   input tokens neither read from nor written to a cache
-- cache_read_tokens      BIGINT   input tokens read from a cache
-- cache_write_tokens     BIGINT   input tokens written to a cache, both lifetimes
-- output_tokens          BIGINT   output tokens, reasoning included
-- reasoning_tokens       BIGINT   part of output_tokens spent on reasoning
-- cost_usd               DOUBLE   US dollars of everything priced; null when nothing is
-- unpriced               BIGINT   usage rows without a price; their cost is not in cost_usd
-- lower_bounds           BIGINT   usage rows known to have cost more than they say
-- recorded_usd           DOUBLE   US dollars the recorder wrote down as billed; null when it wrote none
-- recorded_list_usd      DOUBLE   US dollars it wrote down at list prices; null when it wrote none
WITH calls AS (
    SELECT
        c.*,
        c.grain <> 'call' OR (
            coalesce(c.purpose, 'agent') = 'agent' AND coalesce(e.reason, '') NOT IN ('length', 'max_tokens')
        ) AS is_turn
    FROM cost.by_call AS c
    LEFT JOIN entries AS e ON e.source_id = c.source_id AND e.seq = c.seq
)
SELECT
    c.session_id,
    s.scope,
    CAST(sum(c.calls) AS BIGINT) AS calls,
    CAST(sum(c.uncached_input_tokens) AS BIGINT) AS uncached_input_tokens,
    CAST(sum(c.cache_read_tokens) AS BIGINT) AS cache_read_tokens,
    CAST(CASE
        WHEN count(c.cache_write_tokens) + count(c.cache_write_1h_tokens) > 0
            THEN coalesce(sum(c.cache_write_tokens), 0) + coalesce(sum(c.cache_write_1h_tokens), 0)
    END AS BIGINT) AS cache_write_tokens,
    CAST(sum(c.output_tokens) AS BIGINT) AS output_tokens,
    CAST(sum(c.reasoning_tokens) AS BIGINT) AS reasoning_tokens,
    sum(c.cost_usd) AS cost_usd,
    count(*) FILTER (WHERE c.cost_usd IS NULL) AS unpriced,
    count(*) FILTER (WHERE c.is_lower_bound) AS lower_bounds,
    sum(c.recorded_usd) AS recorded_usd,
    sum(c.recorded_list_usd) AS recorded_list_usd
FROM calls AS c
JOIN (SELECT 'all' AS scope UNION ALL SELECT 'turns') AS s ON s.scope = 'all' OR c.is_turn
GROUP BY c.session_id, s.scope
ORDER BY c.session_id NULLS LAST, s.scope
