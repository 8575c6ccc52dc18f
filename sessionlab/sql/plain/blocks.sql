-- `raw.blocks` without superseded files.
-- One row as in `raw.blocks`.
SELECT x.*
FROM raw.blocks x
JOIN sources s ON s.source_id = x.source_id AND s.superseded_by IS NULL
