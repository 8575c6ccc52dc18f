-- Spend per session.
-- One row per session with usage, newest first.
--
-- session_id             VARCHAR    session
-- format                 VARCHAR    format it was recorded in
-- title                  VARCHAR    its title
-- provider               VARCHAR    the one provider called; null when several or none are named
-- model                  VARCHAR    the one model called; null when several or none are named
-- created_at             TIMESTAMP  when it began
-- calls                  BIGINT     model calls, as far as told
-- uncached_input_tokens  BIGINT     input tokens neither read from nor written to a cache
-- cache_read_tokens      BIGINT     input tokens read from a cache
-- cache_write_tokens     BIGINT     input tokens written to a cache for 5 minutes, or without a lifetime told
-- cache_write_1h_tokens  BIGINT     input tokens written to a cache for an hour
-- output_tokens          BIGINT     output tokens, reasoning included
-- reasoning_tokens       BIGINT     part of output_tokens spent on reasoning
-- unsplit_tokens         BIGINT     tokens when only a total is told
-- web_searches           BIGINT     billed searches
-- cost_usd               DOUBLE     US dollars of everything priced; null when nothing is
-- unpriced               BIGINT     usage rows without a price; their cost is not in cost_usd
-- lower_bounds           BIGINT     usage rows known to have cost more than they say
-- recorded_usd           DOUBLE     US dollars the recorder wrote down as billed; null when it wrote none
-- recorded_list_usd      DOUBLE     US dollars it wrote down at list prices; null when it wrote none
-- recorded               BIGINT     usage rows with a recorded figure
-- is_lower_bound         BOOLEAN    more was spent than the figures say, rows without a price apart
-- lower_bound_reasons    VARCHAR    why, the words of `cost.lower_bounds`; null when it is none
WITH sums AS (
    SELECT
        session_id,
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
    GROUP BY session_id
),
reasons AS (
    SELECT
        session_id,
        concat_ws(
            ', ',
            max(CASE WHEN reason = 'discarded_replies' THEN reason END),
            max(CASE WHEN reason = 'parse_failed' THEN reason END),
            max(CASE WHEN reason = 'provider_mismatch' THEN reason END),
            max(CASE WHEN reason = 'response_loop' THEN reason END),
            max(CASE WHEN reason = 'no_tokens' THEN reason END),
            max(CASE WHEN reason = 'impossible_numbers' THEN reason END),
            max(CASE WHEN reason = 'incomplete_figures' THEN reason END),
            max(CASE WHEN reason = 'incomplete_runs' THEN reason END),
            max(CASE WHEN reason = 'capture_stopped' THEN reason END),
            max(CASE WHEN reason = 'file_incomplete' THEN reason END),
            max(CASE WHEN reason = 'untold_cache_writes' THEN reason END),
            max(CASE WHEN reason = 'unpriced_searches' THEN reason END),
            max(CASE WHEN reason = 'unpriced_requests' THEN reason END),
            max(CASE WHEN reason = 'unsplit_tokens' THEN reason END)
        ) AS reasons
    FROM cost.lower_bounds
    GROUP BY session_id
)
SELECT
    sums.session_id, s.format, s.title, sums.provider, sums.model, s.created_at, sums.calls,
    sums.uncached_input_tokens, sums.cache_read_tokens, sums.cache_write_tokens, sums.cache_write_1h_tokens,
    sums.output_tokens, sums.reasoning_tokens, sums.unsplit_tokens, sums.web_searches, sums.cost_usd, sums.unpriced,
    sums.lower_bounds, sums.recorded_usd, sums.recorded_list_usd, sums.recorded,
    r.session_id IS NOT NULL AS is_lower_bound, r.reasons AS lower_bound_reasons
FROM sums
LEFT JOIN reasons AS r ON r.session_id = sums.session_id
LEFT JOIN sessions AS s ON s.session_id = sums.session_id
ORDER BY s.created_at DESC NULLS LAST, sums.session_id NULLS LAST
