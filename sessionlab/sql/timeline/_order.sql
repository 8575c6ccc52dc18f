-- The entries of a session in the order of its timeline, with what time can be told of each.
-- One row per entry drawn, as in `timeline._drawn`.
--
-- session_id     VARCHAR    session
-- source_id      BIGINT     file the entry stands in
-- seq            BIGINT     position in that file
-- agent_id       VARCHAR    agent it belongs to
-- place          BIGINT     position on the order axis of the session, 0-based, dense
-- recorded_at    TIMESTAMP  when it was written down
-- prior_at       TIMESTAMP  latest time its agent had recorded in this file before; a repetition of what follows is none
-- begin_ms       DOUBLE     clock of its agent when it began, ms since the session began; null without a reading
-- end_ms         DOUBLE     the same when it ended; null where it has no recorded duration
-- is_taken_over  BOOLEAN    it is counted elsewhere: it repeats a record of another session
--
-- Files are woven together by time when each of them tells some (a line without a stamp keeps the last one of its
-- file, stamps that run backwards never reorder a file); else they follow each other, the file to believe first first.
-- The clock of an agent is its last reading plus the durations recorded since; like every question of order it is
-- answered inside one file, before copies are dropped.
WITH told AS (
  SELECT
    e.session_id, e.source_id, e.seq, e.agent_id, e.recorded_at, e.duration_ms, e.elapsed_ms,
    max(CASE WHEN e.kind <> 'echo' THEN e.recorded_at END) OVER (
      PARTITION BY e.session_id, e.source_id, e.agent_id ORDER BY e.seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS prior_at,
    coalesce(
      max(e.recorded_at) OVER (
        PARTITION BY e.session_id, e.source_id ORDER BY e.seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ),
      min(e.recorded_at) OVER (PARTITION BY e.session_id, e.source_id)
    ) AS woven_at,
    count(e.elapsed_ms) OVER (
      PARTITION BY e.session_id, e.source_id, e.agent_id ORDER BY e.seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS readings
  FROM raw.entries e
),
clocked AS (
  SELECT
    *,
    max(elapsed_ms) OVER (PARTITION BY session_id, source_id, agent_id, readings)
      + CASE WHEN readings > 0 THEN sum(coalesce(duration_ms, 0)) OVER (
        PARTITION BY session_id, source_id, agent_id, readings ORDER BY seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) END AS clock_ms
  FROM told
),
timed AS (
  SELECT
    k.*, d.source_rank, d.is_taken_over,
    count(*) OVER (PARTITION BY k.session_id) = count(k.woven_at) OVER (PARTITION BY k.session_id) AS is_woven
  FROM clocked k
  JOIN timeline._drawn d ON d.session_id = k.session_id AND d.source_id = k.source_id AND d.seq = k.seq
)
SELECT
  session_id,
  source_id,
  seq,
  agent_id,
  row_number() OVER (
    PARTITION BY session_id
    ORDER BY CASE WHEN is_woven THEN woven_at END NULLS LAST, source_rank NULLS LAST, source_id, seq
  ) - 1 AS place,
  recorded_at,
  prior_at,
  CAST(clock_ms - coalesce(duration_ms, 0) AS DOUBLE) AS begin_ms,
  CASE WHEN duration_ms IS NOT NULL THEN CAST(clock_ms AS DOUBLE) END AS end_ms,
  is_taken_over
FROM timed
