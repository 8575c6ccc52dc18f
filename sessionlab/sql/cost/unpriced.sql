-- What could not be priced, and why: the models to name in a rates file.
-- One row per provider, model and reason, the most tokens first.
--
-- provider  VARCHAR  provider called
-- model     VARCHAR  model called
-- calls     BIGINT   model calls, as far as told
-- tokens    BIGINT   tokens of every kind; the total where only that is told
-- reason    VARCHAR  what is missing: a model, a rate for it, at that time or for a unit used, or tokens to price
-- unpriced  BIGINT   usage rows without a price
WITH known AS (SELECT DISTINCT provider, model, TRUE AS is_known FROM prices),
missing AS (
    SELECT
        c.provider, c.model, c.calls, c.rate_origin, c.unsplit_tokens, k.is_known,
        coalesce(
            c.uncached_input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.cache_write_1h_tokens, c.output_tokens
        ) IS NOT NULL AS is_split,
        coalesce(c.uncached_input_tokens, 0) + coalesce(c.cache_read_tokens, 0) + coalesce(c.cache_write_tokens, 0)
        + coalesce(c.cache_write_1h_tokens, 0) + coalesce(c.output_tokens, 0) AS split_tokens
    FROM cost.by_call AS c
    LEFT JOIN known AS k
        ON k.provider IS NOT DISTINCT FROM c.provider AND k.model IS NOT DISTINCT FROM c.model
    WHERE c.cost_usd IS NULL
),
explained AS (
    SELECT
        provider, model, calls, CASE WHEN is_split THEN split_tokens ELSE unsplit_tokens END AS tokens,
        CASE
            WHEN rate_origin IS NULL AND is_known THEN 'no rate at that time'
            WHEN rate_origin IS NULL AND model IS NULL THEN 'no model named'
            WHEN rate_origin IS NULL THEN 'no rate for the model'
            WHEN is_split THEN 'no rate for a unit used'
            WHEN unsplit_tokens IS NOT NULL THEN 'only a total is told'
            ELSE 'no tokens told'
        END AS reason
    FROM missing
)
SELECT
    provider, model, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(tokens) AS BIGINT) AS tokens, reason,
    count(*) AS unpriced
FROM explained
GROUP BY provider, model, reason
ORDER BY tokens DESC NULLS LAST, provider NULLS LAST, model NULLS LAST, reason NULLS LAST
