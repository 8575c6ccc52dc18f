-- Rows that repeat a record told elsewhere.
-- One row per copied row of `entries`. `replayed`: the file itself shows it is a replay; `same_record`: the record id
-- stands elsewhere too, and the other one is kept: the earliest, the root agent's before a subagent's, the session
-- that ended first, then the fuller file, so that the shared head of two sessions stays together.
WITH live AS (
  SELECT e.source_id, e.seq, e.session_id, e.agent_id, e.record_id, e.is_copy, e.recorded_at
  FROM raw.entries e
  JOIN sources s ON s.source_id = e.source_id AND s.superseded_by IS NULL
),
repeated AS (
  SELECT record_id FROM live WHERE record_id IS NOT NULL AND NOT is_copy GROUP BY record_id HAVING count(*) > 1
),
ranked AS (
  SELECT
    l.source_id, l.seq,
    row_number() OVER (
      PARTITION BY l.record_id
      ORDER BY
        l.recorded_at NULLS LAST, l.agent_id <> 'root', t.ended_at NULLS LAST, l.session_id, t.rank NULLS LAST,
        l.source_id, l.seq
    ) AS place
  FROM live l
  SEMI JOIN repeated USING (record_id)
  LEFT JOIN _tellings t ON t.source_id = l.source_id AND t.session_id = l.session_id
  WHERE NOT l.is_copy
)
SELECT source_id, seq, 'same_record' AS rule FROM ranked WHERE place > 1
UNION ALL
SELECT source_id, seq, 'replayed' AS rule FROM live WHERE is_copy
