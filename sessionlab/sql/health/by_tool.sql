-- How reliable each tool is, and how long it takes. One row per tool, most called first.
-- Latency is the recorded duration, or the time between call and result where both are recorded and differ: two equal
-- stamps are one stamp of a batch, not an instant call.
--
-- tool         VARCHAR  tool called; null when the call names none
-- calls        BIGINT   calls, refused ones included
-- errors       BIGINT   calls that failed; refusals are not among them
-- error_rate   DOUBLE   errors over calls whose end is known; null when none is
-- denied       BIGINT   calls refused
-- staged       BIGINT   calls placed in an outbox
-- unanswered   BIGINT   calls that never got a result
-- interrupted  BIGINT   calls a person stopped
-- unknown      BIGINT   calls whose end nothing tells
-- timed        BIGINT   calls with a latency
-- median_ms    BIGINT   middle latency (the lower of two); null when none is timed
-- p95_ms       BIGINT   latency 95 in 100 calls do not exceed
-- sessions     BIGINT   sessions that called it
WITH timed AS (
  SELECT
    t.session_id, t.name AS tool, t.status,
    coalesce(
      t.duration_ms,
      CASE WHEN t.returned_at > t.called_at THEN date_diff('millisecond', t.called_at, t.returned_at) END
    ) AS latency_ms
  FROM tool_calls t
  JOIN sessions s ON s.session_id = t.session_id
  WHERE s.same_as_session_id IS NULL
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY tool ORDER BY latency_ms NULLS LAST) AS place,
    count(latency_ms) OVER (PARTITION BY tool) AS timed
  FROM timed
)
SELECT
  tool,
  count(*) AS calls,
  count(*) FILTER (WHERE status = 'failed') AS errors,
  CAST(count(*) FILTER (WHERE status = 'failed') AS DOUBLE) / nullif(count(status), 0) AS error_rate,
  count(*) FILTER (WHERE status = 'refused') AS denied,
  count(*) FILTER (WHERE status = 'staged') AS staged,
  count(*) FILTER (WHERE status = 'unanswered') AS unanswered,
  count(*) FILTER (WHERE status = 'interrupted') AS interrupted,
  count(*) FILTER (WHERE status IS NULL) AS unknown,
  max(timed) AS timed,
  max(CASE WHEN place = CAST(ceil(timed * 0.5) AS BIGINT) THEN latency_ms END) AS median_ms,
  max(CASE WHEN place = CAST(ceil(timed * 0.95) AS BIGINT) THEN latency_ms END) AS p95_ms,
  count(DISTINCT session_id) AS sessions
FROM ranked
GROUP BY tool
ORDER BY calls DESC, tool NULLS LAST
