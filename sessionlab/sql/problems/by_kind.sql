-- What was wrong, counted. One row per kind and severity, worst first.
--
-- severity  VARCHAR  refusal, loss or note
-- kind      VARCHAR  what is wrong, one word
-- problems  BIGINT   how often
-- files     BIGINT   in how many files
-- bytes     BIGINT   bytes covered; null when none of them says
SELECT
  severity, kind, count(*) AS problems, count(DISTINCT source_id) AS files, CAST(sum(byte_length) AS BIGINT) AS bytes
FROM problems
GROUP BY severity, kind
ORDER BY CASE severity WHEN 'refusal' THEN 0 WHEN 'loss' THEN 1 ELSE 2 END, problems DESC, kind
