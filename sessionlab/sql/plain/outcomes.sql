-- `raw.outcomes` without superseded files and copied rows.
-- One row as in `raw.outcomes`.
SELECT x.*
FROM raw.outcomes x
JOIN sources s ON s.source_id = x.source_id AND s.superseded_by IS NULL
LEFT JOIN copies c ON c.source_id = x.source_id AND c.seq = x.seq
WHERE c.seq IS NULL
