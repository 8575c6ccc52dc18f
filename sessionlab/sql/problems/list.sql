-- What was wrong, worst first. One row per problem, with its file.
--
-- severity     VARCHAR  refusal (the whole file), loss (these bytes are in no row), note (nothing lost)
-- kind         VARCHAR  what is wrong, one word
-- detail       VARCHAR  what was expected and found
-- uri          VARCHAR  file
-- line         BIGINT   line, 1-based; null where the file is not lines
-- byte_offset  BIGINT   where it begins
-- byte_length  BIGINT   bytes it covers
-- session_id   VARCHAR  session it concerns
SELECT p.severity, p.kind, p.detail, s.uri, p.line, p.byte_offset, p.byte_length, p.session_id
FROM problems p
LEFT JOIN raw.sources s ON s.source_id = p.source_id
ORDER BY
  CASE p.severity WHEN 'refusal' THEN 0 WHEN 'loss' THEN 1 ELSE 2 END,
  s.uri, p.line NULLS FIRST, p.byte_offset NULLS FIRST, p.kind
