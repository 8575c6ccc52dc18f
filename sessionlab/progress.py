"""A progress bar for loads that take long: on stderr, in a terminal only, or a function of the caller's."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET_SECONDS = 1.5
"""A load that is done sooner shows nothing."""

Report = Callable[[int, int], None]


@contextmanager
def reporter(progress: bool | Report | None) -> Iterator[Report | None]:
    """What to call with (bytes done, bytes in all). None: a bar in a terminal; True: a bar anywhere; False: nothing."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 (drawn only when it takes long)
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    bar = Progress(
        TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    began = time.monotonic()
    task = None

    def report(done: int, total: int) -> None:
        nonlocal task
        if task is None:
            if time.monotonic() - began < QUIET_SECONDS or done >= total:
                return
            bar.start()
            task = bar.add_task("reading", total=total)
        bar.update(task, completed=done)

    try:
        yield report
    finally:
        if task is not None:
            bar.stop()
