-- What became of every byte, of superseded files too: coverage is about files.
-- One row as in `raw.extents`.
SELECT * FROM raw.extents
