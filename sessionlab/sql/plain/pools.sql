-- `raw.pools` without superseded files.
-- One row as in `raw.pools`.
SELECT x.*
FROM raw.pools x
JOIN sources s ON s.source_id = x.source_id AND s.superseded_by IS NULL
