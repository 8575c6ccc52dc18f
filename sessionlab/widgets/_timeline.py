"""A payload goes in; a Jupyter widget, and the still picture that stays when it is saved, come out."""

from __future__ import annotations

import base64
import html
import json
from typing import Any

import anywidget
import traitlets

from sessionlab.widgets import _picture


class Timeline(anywidget.AnyWidget):
    """A drawing of one table; the browser gets text and numbers, and gives back what the reader selected.

    Attributes:
        payload: what is drawn, as JSON text; made once, from the table given.
        height: height of the drawing in pixels; None: as tall as it needs to be, within reason.
    """

    payload = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(allow_none=True, default_value=None).tag(sync=True)

    @property
    def summary(self) -> str:
        """What is drawn in one line of plain text."""
        return f"{type(self).__name__}: {json.loads(self.payload)['summary']}"

    def svg(self) -> str:
        """A still picture of the whole timeline, for places that run no JavaScript; its text is escaped."""
        return _picture.svg(json.loads(self.payload), type(self).__name__)

    def state(self) -> dict[str, Any]:
        """The traits a static page starts from."""
        inherited = set(anywidget.AnyWidget.class_trait_names())
        own = [name for name in sorted(self.class_trait_names(sync=True)) if name not in inherited and name[0] != "_"]
        return {name: getattr(self, name) for name in own}

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:  # noqa: ANN401 - IPython's
        """The live widget, and beside it the still picture that a saved notebook shows without a kernel.

        The picture stands in an ``img``: it runs nothing there, so that notebooks that are not trusted show it, too.
        """
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        picture = base64.b64encode(self.svg().encode()).decode()
        summary = html.escape(self.summary)
        still = f'<img alt="{summary}" src="data:image/svg+xml;base64,{picture}" style="max-width: 100%">'
        return data | {"text/html": still, "text/plain": self.summary}, metadata
