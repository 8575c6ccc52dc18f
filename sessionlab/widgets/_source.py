"""Names of JavaScript and CSS files of this folder go in; one module and one style sheet per widget come out.

A browser gets a widget as one module, without a network to import others from; so shared files stand first, as plain
declarations, and the widget's own file last, with the only ``export``.
"""

from __future__ import annotations

from importlib.resources import files

_SHARED_SCRIPTS = ("_dom.js", "_viewport.js", "_ticks.js", "_marks.js", "_panel.js")
_EXPORT = "\nexport default "


def _read(name: str) -> str:
    return files("sessionlab.widgets").joinpath(name).read_text(encoding="utf-8")


def module(name: str, *parts: str) -> str:
    """The JavaScript module of the widget ``name``, its ``parts`` before it: what anywidget calls ``_esm``."""
    return "\n".join(_read(script) for script in (*_SHARED_SCRIPTS, *parts, f"{name}.js"))


def style(name: str) -> str:
    """The style sheet of the widget ``name``."""
    return "\n".join(_read(sheet) for sheet in ("_shared.css", "_panel.css", f"{name}.css"))


def expression(esm: str) -> str:
    """A module as an expression whose value is its default export: for a page that has no module loader.

    Raises:
        ValueError: the text has not exactly one ``export default``, on a line of its own.
    """
    if esm.count(_EXPORT) != 1:
        raise ValueError(f"expected one line that begins with 'export default ', found {esm.count(_EXPORT)}")
    return '(() => {\n"use strict";\n' + esm.replace(_EXPORT, "\nreturn ") + "\n})()"


def page_script() -> str:
    """The script that starts the widgets of a static page."""
    return _read("page.js")


def page_style() -> str:
    """The style of a static page around its widgets."""
    return _read("page.css")
