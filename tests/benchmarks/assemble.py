"""How fast a journal is folded into a record, beside plain compression of the same bytes, and in how much memory.

    python tests/benchmarks/assemble.py [--size 2000] [--keep FOLDER]

The journal is one session of SIZE megabytes. Plain compression is isal's, at the level of the record, in the same
blocks, written to a file as the record is. Each figure is the best of two; memory is the peak of a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from isal import isal_zlib
from recordings import gg as write_journals

from sessionlab.systems import gg
from sessionlab.systems.gg.segments import LEVEL

BLOCK = 1 << 20


def folded(journal: Path, record: Path) -> None:
    """Assemble, and print what it took."""
    begin = perf_counter()
    done = gg.assemble(journal, record)
    told = {
        "seconds": perf_counter() - begin,
        "entries": done.entries,
        "bytes": done.compressed_bytes,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    sys.stdout.write(json.dumps(told))


def compressed(journal: Path, target: Path) -> float:
    """Seconds to compress the file as it is."""
    begin = perf_counter()
    stream = isal_zlib.compressobj(LEVEL, wbits=31)
    with journal.open("rb", buffering=0) as file, target.open("wb") as out:
        while block := file.read(BLOCK):
            out.write(stream.compress(block))
        out.write(stream.flush())
    return perf_counter() - begin


def main() -> None:
    """Generate, measure, print."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--size", type=int, default=2000, help="megabytes")
    asked.add_argument("--keep", type=Path, help="a folder to keep the journal in")
    asked.add_argument("--fold", nargs=2, type=Path, help=argparse.SUPPRESS)
    told = asked.parse_args()
    if told.fold:
        folded(*told.fold)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = told.keep or Path(scratch)
        journal = folder / "run-00000" / gg.JOURNAL
        if not journal.exists():
            size = told.size * 1_000_000
            write_journals(folder, size, file_bytes=size)
        size = journal.stat().st_size
        with journal.open("rb") as file:
            longest = max(map(len, file))
        record = Path(scratch) / "out" / gg.RECORD
        plain = min(compressed(journal, Path(scratch) / "plain.gz") for _ in range(2))
        command = [sys.executable, __file__, "--fold", str(journal), str(record)]
        runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(2)]
        best = min(runs, key=lambda run: run["seconds"])
        print(f"journal     {size / 1e6:9,.0f} MB, {best['entries']:,} entries, longest line {longest / 1e6:.2f} MB")
        print(f"plain isal  {size / plain / 1e6:9,.0f} MB/s at level {LEVEL}")
        print(
            f"assembly    {size / best['seconds'] / 1e6:9,.0f} MB/s, {plain / best['seconds']:.2f} of plain (aim 0.50)"
        )
        print(f"peak memory {max(run['peak_mb'] for run in runs):9,.0f} MB (aim: 100 MB beside the longest line)")
        print(f"record      {best['bytes'] / 1e6:9,.0f} MB")


if __name__ == "__main__":
    main()
