-- Where every byte went, format by format. One row per format.
--
-- format             VARCHAR  format that claimed the files
-- files              BIGINT   files read
-- superseded         BIGINT   files that another one stands for
-- short              BIGINT   files that are cut or damaged
-- refused            BIGINT   files nothing was taken of
-- decoded_bytes      BIGINT   bytes after decompression
-- read_bytes         BIGINT   bytes that are in rows
-- problem_bytes      BIGINT   bytes told in problems
-- unaccounted_bytes  BIGINT   bytes in neither: 0, always
-- problems           BIGINT   problems
SELECT
  format, count(*) AS files, count(superseded_by) AS superseded,
  count(*) FILTER (WHERE state = 'short') AS short,
  count(*) FILTER (WHERE state = 'refused') AS refused,
  CAST(sum(decoded_bytes) AS BIGINT) AS decoded_bytes,
  CAST(sum(read_bytes) AS BIGINT) AS read_bytes,
  CAST(sum(problem_bytes) AS BIGINT) AS problem_bytes,
  CAST(sum(unaccounted_bytes) AS BIGINT) AS unaccounted_bytes,
  CAST(sum(problems) AS BIGINT) AS problems
FROM coverage.by_source
GROUP BY format
ORDER BY format
