-- Charges, each once.
-- One row per charge (or per figure without a charge id, which never folds); `check` figures stay rows of their own.
-- Figures of one charge fold by the maximum of each field. Two calls that share an id (some gateways give every reply
-- the same one) are told apart by their context, unless all of them name one and the same request. A `stand_in`
-- (mecha's outcome) gives its tokens only where the charge has no `ledger` figure, but the recorded cost and whether
-- the figure is complete come from it.
WITH live AS (
  SELECT
    u.*,
    coalesce(u.charge_id, concat(u.source_id, '/', u.seq, '/', u.recorded_in, '/', u.model)) AS charge,
    CASE WHEN u.standing = 'check' THEN 'check' ELSE 'count' END AS side,
    nullif(u.context_tokens, 0) AS context
  FROM raw.usage u
  JOIN sources s ON s.source_id = u.source_id AND s.superseded_by IS NULL
  LEFT JOIN copies c ON c.source_id = u.source_id AND c.seq = u.seq
  WHERE c.rule IS NULL OR (c.rule <> 'replayed' AND u.charge_id IS NOT NULL)
),
charges AS (
  SELECT
    side, charge, min(context) AS least_context,
    min(context) <> max(context)
      AND NOT (count(*) = count(request_id) AND min(request_id) = max(request_id)) AS several
  FROM live
  GROUP BY side, charge
),
placed AS (
  SELECT
    l.*,
    CASE WHEN c.several THEN coalesce(l.context, c.least_context) END AS part,
    row_number() OVER (
      ORDER BY
        l.standing, l.recorded_at NULLS LAST, l.agent_id <> 'root', t.ended_at NULLS LAST, l.session_id,
        t.rank NULLS LAST, l.source_id, l.seq, l.recorded_in
    ) AS place
  FROM live l
  JOIN charges c ON c.side = l.side AND c.charge = l.charge
  LEFT JOIN _tellings t ON t.source_id = l.source_id AND t.session_id = l.session_id
),
told AS (
  SELECT side, charge, part, min(standing) AS told FROM placed GROUP BY side, charge, part
)
SELECT
  min_by(source_id, place) AS source_id,
  min_by(session_id, place) AS session_id,
  min_by(seq, place) AS seq,
  min_by(line, place) AS line,
  min_by(agent_id, place) AS agent_id,
  min_by(run, place) FILTER (WHERE run IS NOT NULL) AS run,
  min_by(turn, place) FILTER (WHERE turn IS NOT NULL) AS turn,
  charge_id,
  min_by(request_id, place) FILTER (WHERE request_id IS NOT NULL) AS request_id,
  min_by(grain, place) AS grain,
  told AS standing,
  min_by(recorded_in, place) FILTER (WHERE recorded_in IS NOT NULL) AS recorded_in,
  min_by(recorded_at, place) FILTER (WHERE recorded_at IS NOT NULL) AS recorded_at,
  min_by(provider, place) FILTER (WHERE provider IS NOT NULL) AS provider,
  min_by(served_by, place) FILTER (WHERE served_by IS NOT NULL) AS served_by,
  min_by(model, place) FILTER (WHERE model IS NOT NULL) AS model,
  min_by(purpose, place) FILTER (WHERE purpose IS NOT NULL) AS purpose,
  min_by(tier, place) FILTER (WHERE tier IS NOT NULL) AS tier,
  coalesce(max(turns) FILTER (WHERE standing = told), max(turns)) AS turns,
  max(uncached_input_tokens) FILTER (WHERE standing = told) AS uncached_input_tokens,
  max(cache_read_tokens) FILTER (WHERE standing = told) AS cache_read_tokens,
  -- a copy may give the total and another its split: what is written for an hour is taken out of the largest total
  CASE WHEN count(cache_write_tokens) FILTER (WHERE standing = told) > 0 THEN
    max(coalesce(cache_write_tokens, 0) + coalesce(cache_write_1h_tokens, 0)) FILTER (WHERE standing = told)
    - coalesce(max(cache_write_1h_tokens) FILTER (WHERE standing = told), 0)
  END AS cache_write_tokens,
  max(cache_write_1h_tokens) FILTER (WHERE standing = told) AS cache_write_1h_tokens,
  max(output_tokens) FILTER (WHERE standing = told) AS output_tokens,
  max(reasoning_tokens) FILTER (WHERE standing = told) AS reasoning_tokens,
  max(unsplit_tokens) FILTER (WHERE standing = told) AS unsplit_tokens,
  max(context_tokens) FILTER (WHERE standing = told) AS context_tokens,
  max(window_tokens) AS window_tokens,
  max(web_searches) FILTER (WHERE standing = told) AS web_searches,
  max(recorded_usd) AS recorded_usd,
  max(recorded_list_usd) AS recorded_list_usd,
  coalesce(
    bool_and(is_lower_bound) FILTER (WHERE standing = 'stand_in'), bool_and(is_lower_bound)
  ) AS is_lower_bound,
  min_by(detail, place) FILTER (WHERE detail IS NOT NULL) AS detail,
  count(*) AS figures,
  count(DISTINCT source_id) AS sources
FROM placed p
JOIN told USING (side, charge)
WHERE p.part IS NOT DISTINCT FROM told.part
GROUP BY side, charge, charge_id, p.part, told
