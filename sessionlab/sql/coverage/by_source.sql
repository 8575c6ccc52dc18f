-- Where every byte of a file went. One row per file read, by uri.
--
-- source_id          BIGINT   file
-- uri                VARCHAR  where it is
-- format             VARCHAR  format that claimed it
-- state              VARCHAR  whole, short or refused
-- reason             VARCHAR  why it is short or refused
-- size_bytes         BIGINT   bytes stored
-- decoded_bytes      BIGINT   bytes after decompression
-- read_bytes         BIGINT   bytes that are in rows
-- blank_bytes        BIGINT   bytes of blank lines
-- problem_bytes      BIGINT   bytes told in problems
-- after_end_bytes    BIGINT   bytes behind the end mark, not read by rule
-- unaccounted_bytes  BIGINT   decoded bytes that are in none of these: 0, always
-- problems           BIGINT   problems of the file
-- superseded_by      BIGINT   file that stands for this one
WITH fates AS (
  SELECT
    source_id,
    sum(byte_length) FILTER (WHERE fate = 'read') AS read_bytes,
    sum(byte_length) FILTER (WHERE fate = 'blank') AS blank_bytes,
    sum(byte_length) FILTER (WHERE fate = 'problem') AS problem_bytes,
    sum(byte_length) FILTER (WHERE fate = 'after_end') AS after_end_bytes,
    sum(byte_length) AS all_bytes
  FROM extents
  GROUP BY source_id
),
told AS (
  SELECT source_id, count(*) AS problems FROM problems GROUP BY source_id
)
SELECT
  s.source_id, s.uri, s.format, s.state, s.reason, s.size_bytes, s.decoded_bytes,
  CAST(coalesce(f.read_bytes, 0) AS BIGINT) AS read_bytes,
  CAST(coalesce(f.blank_bytes, 0) AS BIGINT) AS blank_bytes,
  CAST(coalesce(f.problem_bytes, 0) AS BIGINT) AS problem_bytes,
  CAST(coalesce(f.after_end_bytes, 0) AS BIGINT) AS after_end_bytes,
  CAST(coalesce(s.decoded_bytes, 0) - coalesce(f.all_bytes, 0) AS BIGINT) AS unaccounted_bytes,
  coalesce(t.problems, 0) AS problems,
  s.superseded_by
FROM sources s
LEFT JOIN fates f ON f.source_id = s.source_id
LEFT JOIN told t ON t.source_id = s.source_id
ORDER BY s.uri, s.source_id
