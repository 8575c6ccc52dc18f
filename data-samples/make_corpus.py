"""Write the sample corpus: `python data-samples/make_corpus.py [--out DIR]`; the same bytes every time."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from generator import claude_code, datalayer, gg, mecha
from generator.tokens import Ledger

OUT = Path(__file__).parent / "corpus"


def build() -> tuple[dict[str, bytes], Ledger]:
    """Every file of the corpus by its path in it, and the books of what its model calls used."""
    ledger = Ledger()
    files: dict[str, bytes] = {}
    for module in (gg, mecha, datalayer, claude_code):
        files.update(module.write(ledger))
    return files, ledger


def main() -> None:
    """Replace the corpus folder with a fresh one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write (default: corpus/ beside this script)")
    out: Path = parser.parse_args().out
    if out.resolve() != OUT.resolve() and out.is_dir() and any(out.iterdir()):
        parser.error(f"{out}: expected a new or empty folder, found files in it; nothing was written")
    files, _ledger = build()
    for folder in {name.partition("/")[0] for name in files}:
        shutil.rmtree(out / folder, ignore_errors=True)
    for name, data in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    print(f"{len(files)} files, {sum(map(len, files.values())):,} bytes in {out}")


if __name__ == "__main__":
    main()
