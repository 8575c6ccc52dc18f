-- How tainted each session is.
-- One row per session: its messages in force at the end by what had entered, and what it took in from outside.
--
-- session_id                VARCHAR  session
-- messages                  BIGINT   messages in force at the end
-- clean                     BIGINT   covered, nothing had entered
-- private                   BIGINT   covered, private data had entered
-- untrusted                 BIGINT   covered, content from outside had entered
-- both_taints               BIGINT   covered, both had
-- unknown                   BIGINT   covered by no checkpoint
-- learnable                 BIGINT   covered and not untrusted
-- armed                     BOOLEAN  both had entered by the last checkpoint; null when there is none
-- first_untrusted_position  BIGINT   first message known to be untrusted
-- first_untrusted_run       BIGINT   run that message belongs to
-- external_calls            BIGINT   tool calls whose result came from outside the machine
-- unknown_external_calls    BIGINT   tool calls of which that is not told, which counts as outside
WITH counted AS (
  SELECT
    session_id,
    count(*) AS messages,
    count(*) FILTER (WHERE NOT private AND NOT untrusted) AS clean,
    count(*) FILTER (WHERE private AND NOT untrusted) AS private,
    count(*) FILTER (WHERE untrusted AND NOT private) AS untrusted,
    count(*) FILTER (WHERE private AND untrusted) AS both_taints,
    count(*) FILTER (WHERE covered_by_seq IS NULL) AS unknown,
    count(*) FILTER (WHERE NOT untrusted) AS learnable,
    min(position) FILTER (WHERE untrusted) AS first_untrusted_position,
    min_by(run, position) FILTER (WHERE untrusted) AS first_untrusted_run
  FROM taint._covered
  GROUP BY session_id
),
checked AS (
  SELECT session_id, bool_or(armed) AS armed FROM taint.checkpoints GROUP BY session_id
),
called AS (
  SELECT
    session_id, count(*) FILTER (WHERE external) AS external_calls,
    count(*) FILTER (WHERE external IS NULL) AS unknown_external_calls
  FROM tool_calls
  GROUP BY session_id
)
SELECT
  s.session_id,
  coalesce(n.messages, 0) AS messages,
  coalesce(n.clean, 0) AS clean,
  coalesce(n.private, 0) AS private,
  coalesce(n.untrusted, 0) AS untrusted,
  coalesce(n.both_taints, 0) AS both_taints,
  coalesce(n.unknown, 0) AS unknown,
  coalesce(n.learnable, 0) AS learnable,
  c.armed,
  n.first_untrusted_position,
  n.first_untrusted_run,
  coalesce(t.external_calls, 0) AS external_calls,
  coalesce(t.unknown_external_calls, 0) AS unknown_external_calls
FROM sessions s
LEFT JOIN counted n ON n.session_id = s.session_id
LEFT JOIN checked c ON c.session_id = s.session_id
LEFT JOIN called t ON t.session_id = s.session_id
ORDER BY s.session_id
