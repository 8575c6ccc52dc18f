-- What every call cost, unit by unit, at the rates of its own time or of the time asked for.
-- One row per usage row that counts: a ledger row, or a stand-in whose charge has none.
--
-- source_id              BIGINT     file the figure stands in
-- seq                    BIGINT     entry that holds the figure
-- session_id             VARCHAR    session that is charged
-- format                 VARCHAR    format the session was recorded in
-- agent_id               VARCHAR    agent that is charged
-- run                    BIGINT     run it belongs to, 1-based
-- turn                   BIGINT     turn it belongs to, 1-based
-- grain                  VARCHAR    what the figure covers: `call`, `run`, `agent` or `session`
-- standing               VARCHAR    `ledger` or `stand_in`
-- provider               VARCHAR    provider called
-- model                  VARCHAR    model called
-- purpose                VARCHAR    `agent`, `compaction` …
-- tier                   VARCHAR    service tier or speed billed
-- called_at              TIMESTAMP  when the call was recorded, else when its session began
-- dated_by               VARCHAR    which of the two it is: `call`, `session`
-- priced_at              TIMESTAMP  instant whose rates apply: the one asked for, else called_at, else now
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
-- input_cost_usd         DOUBLE     cost of uncached input
-- cache_read_cost_usd    DOUBLE     cost of cache reads
-- cache_write_cost_usd   DOUBLE     cost of cache writes of both lifetimes
-- output_cost_usd        DOUBLE     cost of output, reasoning included
-- search_cost_usd        DOUBLE     cost of billed searches
-- request_cost_usd       DOUBLE     fee on the requests themselves
-- cost_usd               DOUBLE     sum of the parts; null when any token used has no rate, or none is told
-- recorded_usd           DOUBLE     cost the recorder wrote down, US dollars
-- recorded_list_usd      DOUBLE     list price the recorder wrote down, US dollars
-- is_lower_bound         BOOLEAN    more was spent than cost_usd says
-- lower_bound_reason     VARCHAR    why, a word of `cost.lower_bounds`; null when it is none
-- band_uncertain         BOOLEAN    rates depend on the request's size, which is not told: the lowest band
-- rate_origin            VARCHAR    where the rate comes from: `file` or `genai-prices`; null: no rate
SELECT
    source_id, seq, session_id, format, agent_id, run, turn, grain, standing, provider, model, purpose, tier,
    called_at, dated_by, priced_at, calls, uncached_input_tokens, cache_read_tokens, cache_write_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, unsplit_tokens, context_tokens, web_searches,
    input_cost_usd, cache_read_cost_usd, cache_write_cost_usd, output_cost_usd, search_cost_usd, request_cost_usd,
    cost_usd, recorded_usd, recorded_list_usd, is_lower_bound, lower_bound_reason, band_uncertain,
    rate_origin
FROM cost._priced
WHERE basis = 'call'
ORDER BY called_at NULLS LAST, source_id NULLS LAST, seq NULLS LAST
