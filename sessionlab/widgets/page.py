"""Widgets go in; one HTML page that shows them from a file, without kernel or network, comes out."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from typing import TYPE_CHECKING

from sessionlab.widgets import _source
from sessionlab.widgets._timeline import Timeline
from sessionlab.widgets._words import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

Section = Timeline | tuple[str, Timeline] | str
"""A widget, a widget under a heading, or a paragraph of plain text."""


def page(sections: Timeline | Iterable[Section], *, title: str) -> str:
    """A self-contained HTML page: the widgets' own JavaScript, CSS and payload inlined, their still pictures without.

    Data cannot break out of it: they stand in JSON with ``<``, ``>`` and ``&`` written as escapes, and the page's
    content security policy lets run only the scripts it was made with, and load nothing at all.

    Args:
        sections: one widget, or widgets, ``(heading, widget)`` pairs and plain-text paragraphs in reading order.
        title: the page's title and first heading, plain text.

    Raises:
        TypeError: a section is none of these.
    """
    listed: list[Section] = [sections] if isinstance(sections, (Timeline, str)) else list(sections)
    body: list[str] = []
    modules: dict[str, str] = {}
    styles: dict[str, None] = {_source.page_style(): None}
    for section in listed:
        if isinstance(section, str):
            body.append(f"<p>{_escape(section)}</p>")
            continue
        heading, widget = section if isinstance(section, tuple) else ("", section)
        if not isinstance(widget, Timeline):
            raise TypeError(f"a section is a widget, (heading, widget) or text; found {type(widget).__name__}")
        name = type(widget).__name__
        modules[name] = _source.expression(str(widget._esm))  # noqa: SLF001 - anywidget's name for a public attribute
        styles[str(widget._css)] = None  # noqa: SLF001 - the same
        if heading:
            body.append(f"<h2>{_escape(heading)}</h2>")
        body.append(f'<section class="sl-widget" data-widget="{name}">')
        body.append(f'<script type="application/json">{_json(widget.state())}</script>')
        body.append(f"<noscript>{widget.svg()}</noscript></section>")
    members = ",\n".join(f"{json.dumps(name)}: {module}" for name, module in modules.items())
    script = f"\nconst WIDGETS = {{\n{members}\n}};\n{_source.page_script()}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_escape(title)}</title>",
            *(f"<style>\n{style}</style>" for style in styles),
            f"</head>\n<body>\n<main>\n<h1>{_escape(title)}</h1>",
            *body,
            f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ],
    )


def _escape(text: str) -> str:
    return html.escape(visible(text))


def _json(state: object) -> str:
    """``state`` as JSON that ends no script element and opens no comment, whatever it holds."""
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
