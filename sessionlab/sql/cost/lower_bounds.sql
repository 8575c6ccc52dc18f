-- Why more was spent in a session than its figures say: what its record does not hold, and what its rates leave open.
-- One row per session and reason. Rows without any price are counted as unpriced and explained by `cost.unpriced`.
--
-- session_id  VARCHAR  session
-- format      VARCHAR  format it was recorded in
-- reason      VARCHAR  discarded_replies, parse_failed, provider_mismatch, response_loop, no_tokens,
--                      impossible_numbers, incomplete_figures, incomplete_runs (the record says so), capture_stopped,
--                      file_incomplete; by the rates untold_cache_writes, unpriced_searches, unpriced_requests,
--                      unsplit_tokens
-- cases       BIGINT   calls, runs or files it is about
-- source_id   BIGINT   file of the first of them
-- seq         BIGINT   entry of the first; of a file that ends early, its last; null when none is told
-- sentence    VARCHAR  the reason in words
WITH failed AS (
    SELECT o.session_id, w.reason, o.source_id,
        CASE w.reason
            WHEN 'parse_failed' THEN TRY_CAST((o.sensors->>'$.unrecorded.parse.cases') AS BIGINT)
            WHEN 'provider_mismatch' THEN TRY_CAST((o.sensors->>'$.unrecorded.provider_mismatch.cases') AS BIGINT)
            ELSE TRY_CAST((o.sensors->>'$.unrecorded.response_loop.cases') AS BIGINT)
        END AS cases,
        CASE w.reason
            WHEN 'parse_failed' THEN TRY_CAST((o.sensors->>'$.unrecorded.parse.seq') AS BIGINT)
            WHEN 'provider_mismatch' THEN TRY_CAST((o.sensors->>'$.unrecorded.provider_mismatch.seq') AS BIGINT)
            ELSE TRY_CAST((o.sensors->>'$.unrecorded.response_loop.seq') AS BIGINT)
        END AS seq
    FROM outcomes AS o
    CROSS JOIN (
        SELECT 'parse_failed' AS reason UNION ALL SELECT 'provider_mismatch' UNION ALL SELECT 'response_loop'
    ) AS w
    WHERE (o.sensors->>'$.unrecorded') IS NOT NULL
),
flagged AS (
    SELECT session_id, agent_id, run FROM usage WHERE is_lower_bound GROUP BY session_id, agent_id, run
),
told AS (
    SELECT session_id, reason, cases, source_id, seq, CAST(NULL AS VARCHAR) AS words FROM failed WHERE cases > 0
    UNION ALL
    SELECT session_id, lower_bound_reason, 1, source_id, seq, NULL FROM cost.by_call WHERE is_lower_bound
    UNION ALL
    SELECT session_id, 'no_tokens', 1, source_id, seq, NULL
    FROM cost.by_call
    WHERE NOT is_lower_bound AND cost_usd IS NULL AND coalesce(
        uncached_input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens,
        unsplit_tokens
    ) IS NULL
    UNION ALL
    SELECT o.session_id, 'incomplete_runs', 1, o.source_id, o.seq, NULL
    FROM outcomes AS o
    LEFT JOIN flagged AS f
        ON f.session_id = o.session_id AND f.agent_id = o.agent_id AND f.run IS NOT DISTINCT FROM o.run
    WHERE NOT o.usage_complete AND f.session_id IS NULL AND (o.sensors->>'$.unrecorded') IS NULL
    UNION ALL
    SELECT
        t.session_id,
        CASE
            WHEN s.reason IN ('byte_ceiling', 'write_failed', 'session_killed', 'corrupt_journal')
                THEN 'capture_stopped'
            ELSE 'file_incomplete'
        END,
        1, t.source_id, CASE WHEN t.entries > 0 THEN t.entries - 1 END, s.reason
    FROM _tellings AS t
    JOIN sources AS s ON s.source_id = t.source_id
    WHERE s.state = 'short' AND s.superseded_by IS NULL
),
placed AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY session_id, reason ORDER BY source_id NULLS LAST, seq NULLS LAST
        ) AS place
    FROM told
),
summed AS (
    SELECT
        session_id, reason, CAST(sum(cases) AS BIGINT) AS cases, min_by(source_id, place) AS source_id,
        min(CASE WHEN place = 1 THEN seq END) AS seq, min(CASE WHEN place = 1 THEN words END) AS words
    FROM placed
    GROUP BY session_id, reason
)
SELECT
    b.session_id, s.format, b.reason, b.cases, b.source_id, b.seq,
    concat(
        CASE
            WHEN b.reason = 'incomplete_figures'
                THEN concat(b.cases, CASE WHEN b.cases = 1 THEN ' figure ' ELSE ' figures ' END)
            WHEN b.reason NOT IN ('capture_stopped', 'file_incomplete', 'incomplete_runs')
                THEN concat(b.cases, CASE WHEN b.cases = 1 THEN ' call ' ELSE ' calls ' END)
            WHEN b.reason = 'incomplete_runs' THEN concat(b.cases, CASE WHEN b.cases = 1 THEN ' run ' ELSE ' runs ' END)
        END,
        CASE b.reason
            WHEN 'discarded_replies'
                THEN 'came after replies that loop detection discarded: what those cost is not recorded'
            WHEN 'parse_failed' THEN 'ended in a reply that could not be decoded: what it cost is not recorded'
            WHEN 'provider_mismatch' THEN 'served by another provider than the one pinned: what it cost is not recorded'
            WHEN 'response_loop' THEN 'of which loop detection discarded every reply: what those cost is not recorded'
            WHEN 'no_tokens' THEN 'without any count of tokens: what it cost is not known'
            WHEN 'impossible_numbers' THEN 'with a figure nobody can mean, which counts as unknown'
            WHEN 'incomplete_figures' THEN 'of usage incomplete by the record itself: more was spent than told'
            WHEN 'incomplete_runs' THEN 'whose usage is incomplete by the record itself'
            WHEN 'capture_stopped' THEN concat(
                'capture stopped', CASE WHEN b.seq IS NOT NULL THEN concat(' after entry ', b.seq) END,
                ' (', b.words, '): calls after it are not recorded'
            )
            WHEN 'file_incomplete' THEN concat('the file is not whole (', coalesce(b.words, 'nothing tells why'),
                '): calls in what is missing are not recorded')
            WHEN 'untold_cache_writes' THEN 'whose input may hold cache writes, which cost more at this model'
            WHEN 'unpriced_searches' THEN 'with billed searches that have no rate'
            WHEN 'unpriced_requests' THEN 'at a fee per request, whose requests are not counted'
            WHEN 'unsplit_tokens' THEN 'with more tokens in all than the kinds add up to'
        END
    ) AS sentence
FROM summed AS b
LEFT JOIN sessions AS s ON s.session_id = b.session_id
ORDER BY b.session_id NULLS LAST, b.reason
