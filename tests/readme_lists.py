"""Writes README's lists of tables, views, formats and charts from the code: ``python tests/readme_lists.py``."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def _first(doc: str | None) -> str:
    return (doc or "").strip().split("\n\n")[0].replace("\n", " ").replace("  ", " ")


def _table(headings: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {headings[0]} | {headings[1]} |", "|---|---|"]
    lines += ["| `{}` | {} |".format(name, text.replace("|", "\\|")) for name, text in rows]
    return "\n".join(lines)


def _shapes() -> str:
    from sessionlab.systems.mecha.forgetting import shapes

    lines = ["| store | files | a row that tells of the session |", "|---|---|---|"]
    for store, files, sentence in shapes():
        told = sentence.replace("|", "\\|")
        lines.append(f"| {store} | `{files}` | {told} |")
    return "\n".join(lines)


def _mapping() -> str:
    from sessionlab.systems.datalayer import mapping

    doc = (mapping.__doc__ or "").strip()
    tables = doc[doc.index("====") : doc.rindex("====") + 4]
    return f"```text\n{tables}\n```"


def lists() -> dict[str, str]:
    """The generated parts of README by the name of their marks."""
    from sessionlab import charts
    from sessionlab.formats import FORMATS, all_formats
    from sessionlab.tables import TABLES
    from sessionlab.views import public_views

    formats = [(name, _first(all_formats()[name].__doc__)) for name in FORMATS]
    drawn = [(name, _first(getattr(charts, name).__doc__)) for name in charts.__all__]
    return {
        "formats": _table(("format", "what it reads"), formats),
        "tables": _table(("table", "what it holds"), [(name, _first(row.__doc__)) for name, row in TABLES.items()]),
        "views": _table(("view", "what it answers"), [(name, view.sentence) for name, view in public_views().items()]),
        "charts": _table(("chart", "what it shows"), drawn),
        "shapes": _shapes(),
        "mapping": _mapping(),
    }


def filled(text: str) -> str:
    """README's text with every generated part as the code has it now."""
    for name, part in lists().items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text, count = re.subn(pattern, lambda m, part=part: f"{m[1]}{part}\n{m[2]}", text, flags=re.DOTALL)
        assert count == 1, f"README has no part marked {name}"
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
