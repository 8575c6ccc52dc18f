"""Where the samples and notebooks lie that come with sessionlab: in the installed package, or in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def _folder(installed: str, checkout: str) -> Path:
    for place in (_PACKAGE / installed, _PACKAGE.parent / checkout):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"{checkout} came neither with the package nor with a checkout")


def samples() -> Path:
    """The sample session files: a folder per format, and ``corpus``, two months of work."""
    return _folder("_samples", "data-samples")


def notebooks() -> Path:
    """The starter notebooks."""
    return _folder("_notebooks", "notebooks")
