"""Prints MB/s and peak memory of loading, beside ``orjson.loads`` per line and DuckDB's ``read_json``.

Run by hand: ``python tests/benchmarks/load.py [--sizes 50 500] [--runs 3]``. Each figure is the best of the runs, each
run a process of its own on files that lie in the page cache; the peak is that of its whole family (Linux only).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
MEGABYTE = 1_000_000
SAMPLED_EVERY = 0.02
"""Seconds between two looks at the memory."""


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def orjson_lines(folder: Path) -> None:
    """Every line through orjson.loads, one process."""
    import orjson

    for path in _files(folder):
        for line in path.read_bytes().split(b"\n"):
            if line:
                orjson.loads(line)


def duckdb_table(folder: Path) -> None:
    """The same bytes into one table by DuckDB's own reader, all cores."""
    import duckdb

    con = duckdb.connect()
    names = [str(path) for path in _files(folder)]
    con.execute(
        "CREATE TABLE t AS SELECT * FROM read_json(?, format='newline_delimited', union_by_name=true,"
        " maximum_object_size=268435456)",
        [names],
    )


def all_tables(folder: Path) -> None:
    """sessionlab.load with bodies, folds, prices and views, all cores."""
    import sessionlab as sl

    sl.load(folder)


def all_tables_one_process(folder: Path) -> None:
    """The same in one process."""
    import sessionlab as sl

    sl.load(folder, workers=1)


def no_bodies_one_process(folder: Path) -> None:
    """What `stats` and `health` load, figures alone, in one process; and their answers."""
    import sessionlab as sl

    corpus = sl.load(folder, figures=True, workers=1)
    corpus.view("cost.stats")
    corpus.view("health.summary")


ROADS = {
    "orjson.loads per line (1 process)": orjson_lines,
    "DuckDB read_json into one table": duckdb_table,
    "sessionlab, all tables": all_tables,
    "sessionlab, all tables (1 process)": all_tables_one_process,
    "sessionlab, stats + health (1 process)": no_bodies_one_process,
}


def _measure(road: str, folder: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of the process and its workers together.

    Imports come before, those too that genai-prices puts off until the first price and pyarrow until the first list
    (it looks for pandas then): they cost the same whatever the size.
    """
    code = (
        f"import sys, time; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent.parent)!r}]; import load;"
        "import sessionlab as sl; sl.load; import duckdb, orjson, polars;"
        "import genai_prices.data, pyarrow, sessionlab.formats as f; f.all_formats(); pyarrow.array([0]);"
        f"t = time.perf_counter(); load.ROADS[{road!r}](load.Path({str(folder)!r}));"
        "print(time.perf_counter() - t)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(_resident, _family(process.pid))))
            time.sleep(SAMPLED_EVERY)
        assert process.stdout is not None
        told = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{road}: exit {process.returncode}")
    return float(told.splitlines()[-1]), peak / 1024


def _family(pid: int) -> list[int]:
    """The process and all that descend from it (a fork server's children are not its direct ones)."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in _family(int(child)))]


def _resident(pid: int) -> int:
    """Kilobytes of a process in memory now; 0 where nothing tells."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def main() -> None:
    """Write the recordings, measure each road, print a table."""
    sys.path.insert(0, str(HERE))
    import recordings

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 500], help="megabytes")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--formats", nargs="+", default=["mecha", "gg"])
    options = parser.parse_args()
    print(f"{'':<42}{'MB/s':>8}{'seconds':>9}{'peak MB':>9}")
    for name in options.formats:
        for size in options.sizes:
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch)
                written = getattr(recordings, name)(folder, size * MEGABYTE)
                for path in _files(folder):
                    path.read_bytes()
                print(f"{name}, {written / MEGABYTE:.0f} MB in {len(_files(folder))} files")
                for road in ROADS:
                    best = min(_measure(road, folder) for _ in range(options.runs))
                    print(f"  {road:<40}{written / MEGABYTE / best[0]:>8.0f}{best[0]:>9.2f}{best[1]:>9.0f}", flush=True)
                    time.sleep(0.2)


if __name__ == "__main__":
    main()
