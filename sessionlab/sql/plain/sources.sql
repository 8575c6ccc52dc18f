-- Files read, each with the file that stands for it where one does.
-- One row per file read. A file is superseded when another has the same bytes, or tells its sessions more fully:
-- of the tellings of a session that cannot be merged row by row (a snapshot among them, or none with record ids) one
-- stands, whole before short, then the most entries, then the newest.
WITH twins AS (
  SELECT source_id, first_value(source_id) OVER (PARTITION BY format, content_id ORDER BY uri, source_id) AS keeper
  FROM raw.sources
  WHERE state <> 'refused' AND decoded_bytes > 0
),
identified AS (
  SELECT DISTINCT source_id FROM raw.entries WHERE record_id IS NOT NULL
),
tellings AS (
  SELECT
    t.session_id, t.source_id, s.uri, t.entries, s.modified_at, s.state = 'whole' AS is_whole,
    bool_or(t.part = 'snapshot') OVER (PARTITION BY t.session_id)
      OR bool_and(i.source_id IS NULL) OVER (PARTITION BY t.session_id) AS one_stands
  FROM raw.sessions t
  JOIN raw.sources s USING (source_id)
  JOIN twins ON twins.source_id = t.source_id AND twins.keeper = t.source_id
  LEFT JOIN identified i ON i.source_id = t.source_id
  WHERE t.part <> 'mark'
),
ranked AS (
  SELECT
    session_id, source_id, one_stands,
    first_value(source_id) OVER (
      PARTITION BY session_id
      ORDER BY is_whole DESC, entries DESC NULLS LAST, modified_at DESC NULLS LAST, uri, source_id
    ) AS keeper
  FROM tellings
),
fuller AS (
  SELECT source_id, min(keeper) AS keeper
  FROM ranked
  GROUP BY source_id
  HAVING bool_and(one_stands AND keeper <> source_id)
)
SELECT
  s.*,
  CASE WHEN twins.keeper <> s.source_id THEN twins.keeper ELSE fuller.keeper END AS superseded_by,
  CASE
    WHEN twins.keeper <> s.source_id THEN 'same_bytes'
    WHEN fuller.keeper IS NOT NULL THEN 'fuller_snapshot'
  END AS superseded_rule
FROM raw.sources s
LEFT JOIN twins ON twins.source_id = s.source_id
LEFT JOIN fuller ON fuller.source_id = s.source_id
