-- Every usage figure with the rate in force and what it comes to: the one place where tokens become dollars.
-- One row per counted usage row (basis `call`); one more per ledger row, and per session without one (basis `header`).
--
-- basis                  VARCHAR    `call`: own pair and time; `header`: its session's pair, today (mecha 10.3)
-- source_id              BIGINT     file the usage stands in; null for a session without usage
-- seq                    BIGINT     entry that holds the figure; null for a session without usage
-- session_id             VARCHAR    session that is charged
-- format                 VARCHAR    format the session was recorded in
-- agent_id               VARCHAR    agent that is charged
-- run                    BIGINT     run it belongs to, 1-based
-- turn                   BIGINT     turn it belongs to, 1-based
-- grain                  VARCHAR    what the figure covers: `call`, `run`, `agent` or `session`
-- standing               VARCHAR    `ledger` or `stand_in`
-- provider               VARCHAR    provider it is priced at
-- model                  VARCHAR    model it is priced at
-- purpose                VARCHAR    `agent`, `compaction` …
-- tier                   VARCHAR    service tier or speed billed
-- called_at              TIMESTAMP  when the call was recorded, else when its session began
-- dated_by               VARCHAR    which of the two it is: `call`, `session`
-- priced_at              TIMESTAMP  instant whose rates apply
-- calls                  BIGINT     model calls the figure covers; null when not told
-- uncached_input_tokens  BIGINT     input tokens neither read from nor written to a cache
-- cache_read_tokens      BIGINT     input tokens read from a cache
-- cache_write_tokens     BIGINT     input tokens written to a cache for 5 minutes, or without a lifetime told
-- cache_write_1h_tokens  BIGINT     input tokens written to a cache for an hour
-- output_tokens          BIGINT     output tokens, reasoning included
-- reasoning_tokens       BIGINT     part of output_tokens spent on reasoning
-- unsplit_tokens         BIGINT     tokens when only a total is told
-- context_tokens         BIGINT     all input of the request, as recorded
-- web_searches           BIGINT     billed searches
-- recorded_usd           DOUBLE     cost the recorder wrote down, US dollars
-- recorded_list_usd      DOUBLE     list price the recorder wrote down, US dollars
-- input_cost_usd         DOUBLE     cost of uncached input
-- cache_read_cost_usd    DOUBLE     cost of cache reads
-- cache_write_cost_usd   DOUBLE     cost of cache writes of both lifetimes
-- output_cost_usd        DOUBLE     cost of output, reasoning included
-- search_cost_usd        DOUBLE     cost of billed searches
-- request_cost_usd       DOUBLE     fee on the requests themselves
-- cost_usd               DOUBLE     sum of the parts; null when any token used has no rate, or none is told
-- is_lower_bound         BOOLEAN    more was spent than cost_usd says
-- lower_bound_reason     VARCHAR    why: as in `cost.lower_bounds`; null when it is none
-- band_uncertain         BOOLEAN    rates depend on the request's size, which is not told: the lowest band
-- rate_origin            VARCHAR    where the rate comes from: `file` or `genai-prices`; null: no rate
WITH charges AS (
    SELECT
        'call' AS basis, u.session_id, s.format, u.provider, u.model,
        coalesce(u.recorded_at, s.created_at) AS called_at,
        CASE WHEN u.recorded_at IS NOT NULL THEN 'call' WHEN s.created_at IS NOT NULL THEN 'session' END AS dated_by,
        coalesce(settings.price_at, u.recorded_at, s.created_at, settings.now_at) AS priced_at,
        u.* EXCLUDE (session_id, provider, model)
    FROM usage AS u
    LEFT JOIN sessions AS s ON s.session_id = u.session_id
    CROSS JOIN settings
    WHERE u.standing IN ('ledger', 'stand_in')
    UNION ALL
    SELECT
        'header' AS basis, s.session_id, s.format,
        CASE
            WHEN u.grain IS NULL OR (s.provider IS NOT NULL AND s.model IS NOT NULL) THEN s.provider
            ELSE u.provider
        END AS provider,
        CASE
            WHEN u.grain IS NULL OR (s.provider IS NOT NULL AND s.model IS NOT NULL) THEN s.model
            ELSE u.model
        END AS model,
        coalesce(u.recorded_at, s.created_at) AS called_at,
        CASE WHEN u.recorded_at IS NOT NULL THEN 'call' WHEN s.created_at IS NOT NULL THEN 'session' END AS dated_by,
        settings.now_at AS priced_at,
        u.* EXCLUDE (session_id, provider, model)
    FROM sessions AS s
    LEFT JOIN (SELECT * FROM usage WHERE standing = 'ledger') AS u ON u.session_id = s.session_id
    CROSS JOIN settings
),
-- a tier without rates of its own is billed at the standard ones
tiers AS (SELECT DISTINCT provider, model, variant FROM prices WHERE variant <> 'standard'),
-- what is open is filled in, so that every condition of the join compares two columns and the join can hash
rates AS (
    SELECT
        * EXCLUDE (from_at, until_at, from_time, until_time),
        coalesce(from_at, TIMESTAMP '0001-01-01 00:00:00') AS from_at,
        coalesce(until_at, TIMESTAMP '9999-12-31 00:00:00') AS until_at,
        coalesce(from_time, 0) AS from_second,
        coalesce(until_time, 86400) AS until_second,
        coalesce(band_until_tokens, 9223372036854775807) AS band_end
    FROM prices
),
measured AS (
    SELECT
        c.*,
        coalesce(t.variant, 'standard') AS variant,
        hour(c.priced_at) * 3600 + minute(c.priced_at) * 60 + second(c.priced_at) AS priced_second,
        CASE WHEN c.grain = 'call' THEN 1 ELSE c.turns END AS calls,
        coalesce(c.uncached_input_tokens, 0) + coalesce(c.cache_read_tokens, 0) + coalesce(c.cache_write_tokens, 0)
        + coalesce(c.cache_write_1h_tokens, 0) AS told_input_tokens,
        coalesce(
            c.uncached_input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.cache_write_1h_tokens, c.output_tokens
        ) IS NOT NULL AS is_told
    FROM charges AS c
    LEFT JOIN tiers AS t
        ON t.provider IS NOT DISTINCT FROM c.provider
        AND t.model IS NOT DISTINCT FROM c.model
        AND t.variant = lower(c.tier)
),
-- the size of the request: as told, else what one call's parts add up to, else unknown and taken as the lowest band
sized AS (
    SELECT *, coalesce(context_tokens, CASE WHEN calls = 1 THEN told_input_tokens END) AS request_tokens
    FROM measured
),
parts AS (
    SELECT
        c.*, r.origin AS rate_origin,
        CASE WHEN c.uncached_input_tokens = 0 THEN 0.0 ELSE c.uncached_input_tokens * r.input_usd_per_mtok / 1e6 END
        AS input_cost_usd,
        CASE WHEN c.cache_read_tokens = 0 THEN 0.0 ELSE c.cache_read_tokens * r.cache_read_usd_per_mtok / 1e6 END
        AS cache_read_cost_usd,
        CASE WHEN c.cache_write_tokens = 0 THEN 0.0 ELSE c.cache_write_tokens * r.cache_write_usd_per_mtok / 1e6 END
        AS write_5m_cost_usd,
        CASE
            WHEN c.cache_write_1h_tokens = 0 THEN 0.0
            ELSE c.cache_write_1h_tokens * r.cache_write_1h_usd_per_mtok / 1e6
        END AS write_1h_cost_usd,
        CASE
            WHEN c.output_tokens = 0 THEN 0.0
            WHEN r.reasoning_usd_per_mtok IS NULL THEN c.output_tokens * r.output_usd_per_mtok / 1e6
            ELSE (
                (c.output_tokens - least(coalesce(c.reasoning_tokens, 0), c.output_tokens)) * r.output_usd_per_mtok
                + least(coalesce(c.reasoning_tokens, 0), c.output_tokens) * r.reasoning_usd_per_mtok
            ) / 1e6
        END AS output_cost_usd,
        CASE WHEN c.web_searches = 0 THEN 0.0 ELSE c.web_searches * r.web_search_usd_per_thousand / 1e3 END
        AS search_cost_usd,
        c.calls * r.request_usd_per_thousand / 1e3 AS request_cost_usd,
        c.calls IS NULL AND r.request_usd_per_thousand > 0 AS requests_unpriced,
        -- input that may hold writes not told apart, at a model whose writes cost more
        c.cache_write_tokens IS NULL AND c.cache_write_1h_tokens IS NULL AND c.uncached_input_tokens > 0
        AND r.cache_write_usd_per_mtok > r.input_usd_per_mtok AS writes_hidden,
        c.request_tokens IS NULL AND c.told_input_tokens >= r.band_end AS band_uncertain
    FROM sized AS c
    LEFT JOIN rates AS r
        ON r.provider IS NOT DISTINCT FROM c.provider
        AND r.model IS NOT DISTINCT FROM c.model
        AND r.variant = c.variant
        AND r.from_at <= c.priced_at AND r.until_at > c.priced_at
        AND r.from_second <= c.priced_second AND r.until_second > c.priced_second
        AND r.band_from_tokens <= coalesce(c.request_tokens, 0) AND r.band_end > coalesce(c.request_tokens, 0)
),
summed AS (
    SELECT
        *,
        CASE
            WHEN rate_origin IS NULL THEN NULL
            WHEN grain IS NULL THEN 0.0  -- a session without usage, at a price that is known
            WHEN NOT is_told THEN NULL
            WHEN uncached_input_tokens > 0 AND input_cost_usd IS NULL THEN NULL
            WHEN cache_read_tokens > 0 AND cache_read_cost_usd IS NULL THEN NULL
            WHEN cache_write_tokens > 0 AND write_5m_cost_usd IS NULL THEN NULL
            WHEN cache_write_1h_tokens > 0 AND write_1h_cost_usd IS NULL THEN NULL
            WHEN output_tokens > 0 AND output_cost_usd IS NULL THEN NULL
            ELSE
                coalesce(input_cost_usd, 0.0) + coalesce(cache_read_cost_usd, 0.0) + coalesce(write_5m_cost_usd, 0.0)
                + coalesce(write_1h_cost_usd, 0.0) + coalesce(output_cost_usd, 0.0) + coalesce(search_cost_usd, 0.0)
                + coalesce(request_cost_usd, 0.0)
        END AS cost_usd
    FROM parts
),
explained AS (
    SELECT
        *,
        CASE
            WHEN is_lower_bound THEN coalesce((detail->>'$.lower_bound'), 'incomplete_figures')
            WHEN cost_usd IS NULL THEN NULL
            WHEN web_searches > 0 AND search_cost_usd IS NULL THEN 'unpriced_searches'
            WHEN requests_unpriced THEN 'unpriced_requests'
            WHEN writes_hidden THEN 'untold_cache_writes'
            WHEN unsplit_tokens > told_input_tokens + coalesce(output_tokens, 0) THEN 'unsplit_tokens'
        END AS lower_bound_reason
    FROM summed
)
SELECT
    basis, source_id, seq, session_id, format, agent_id, run, turn, grain, standing, provider, model, purpose, tier,
    called_at, dated_by, priced_at, calls,
    uncached_input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens,
    reasoning_tokens, unsplit_tokens, context_tokens, web_searches, recorded_usd, recorded_list_usd,
    input_cost_usd, cache_read_cost_usd,
    CASE
        WHEN write_5m_cost_usd IS NULL AND cache_write_tokens > 0 THEN NULL
        WHEN write_1h_cost_usd IS NULL AND cache_write_1h_tokens > 0 THEN NULL
        WHEN write_5m_cost_usd IS NULL THEN write_1h_cost_usd
        ELSE write_5m_cost_usd + coalesce(write_1h_cost_usd, 0.0)
    END AS cache_write_cost_usd,
    output_cost_usd, search_cost_usd, request_cost_usd, cost_usd,
    lower_bound_reason IS NOT NULL AS is_lower_bound,
    lower_bound_reason,
    coalesce(band_uncertain, FALSE) AS band_uncertain,
    rate_origin
FROM explained
