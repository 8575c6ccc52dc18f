-- The beginning of what was said in a span.
-- One row per span of `timeline._marks` that has text: what was said before what was called, returned or thought.
--
-- session_id  VARCHAR  session
-- span_id     VARCHAR  span
-- excerpt     VARCHAR  its first 200 characters; of a text of which only a tail is kept, `… ` and the first of those
SELECT
  m.session_id, m.span_id,
  CASE WHEN p.original_bytes IS NOT NULL THEN concat('… ', left(b.text, 198)) ELSE left(b.text, 200) END AS excerpt
FROM timeline._marks m
JOIN blocks b
  ON b.session_id = m.session_id AND b.source_id = m.source_id
  AND b.pool = CASE
    WHEN m.message_ix IS NOT NULL THEN 'message' WHEN m.kind = 'model_call' THEN 'response' ELSE 'text'
  END
  AND b.ix = coalesce(m.message_ix, m.output_ix)
LEFT JOIN pools p ON p.session_id = b.session_id AND p.source_id = b.source_id AND p.pool = b.pool AND p.ix = b.ix
WHERE m.span_kind IS NOT NULL AND b.text IS NOT NULL AND b.text <> ''
QUALIFY row_number() OVER (
  PARTITION BY m.session_id, m.span_id
  ORDER BY CASE b.kind WHEN 'text' THEN 0 WHEN 'call' THEN 1 WHEN 'result' THEN 2 ELSE 3 END, m.place, b.block
) = 1
