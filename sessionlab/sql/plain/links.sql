-- `raw.links` without superseded files.
-- One row as in `raw.links`.
SELECT x.*
FROM raw.links x
JOIN sources s ON s.source_id = x.source_id AND s.superseded_by IS NULL
