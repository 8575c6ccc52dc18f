"""What stays of a widget without a kernel: the picture in a saved notebook, and the static page."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import anywidget
import pytest

from sessionlab.widgets import AgentTimeline, TaintTimeline, _source, page

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from sessionlab.widgets._timeline import Timeline

    Rows = list[dict[str, Any]]
    Build = Callable[[Rows], pa.Table]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def hostile() -> str:
    """Recorded text that would like to be more than text."""
    return "</text><script>alert(1)</script><img src=x onerror=alert(2)> &amp; \x1b[31m \u202e ]]> \x00"


@pytest.fixture
def widgets(spans: Build, details: Build, messages: Build, hostile: str) -> list[Timeline]:
    """Both widgets with hostile text in every place that is shown."""
    shown = {"name": hostile, "status": "failed", "reason": hostile, "excerpt": hostile, "note": hostile}
    agents = spans(
        [
            {"span_id": "a", "kind": "agent", "agent_id": hostile, "origin": hostile} | shown,
            {"span_id": "c", "kind": "shell", "agent_id": hostile, "begin_order": 0, "place": hostile} | shown,
            {"span_id": "e", "kind": "agent", "agent_id": "b", "lane": 1, "parent_agent_id": hostile} | shown,
        ],
    )
    body = details([{"span_id": "c", "part": "output", "ix": 0, "label": hostile, "text": hostile}])
    said = messages([{"state": hostile, "role": hostile, "voice": hostile, "name": hostile, "excerpt": hostile}])
    return [AgentTimeline(agents, body), TaintTimeline(said)]


def test_the_bundle_has_the_widget_and_the_picture(widgets: list[Timeline]) -> None:
    """A notebook shows the widget with a kernel, the picture without, and words where nothing is drawn."""
    for widget in widgets:
        bundle = widget._repr_mimebundle_()
        assert bundle is not None
        data, _ = bundle
        assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
        still = re.fullmatch(
            r'<img alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)" style="[^"]+">', data["text/html"]
        )
        assert still is not None
        assert (still[1], base64.b64decode(still[2]).decode()) == (widget.summary, widget.svg())
        assert data["text/plain"] == widget.summary
    assert widgets[0].summary == "AgentTimeline: 2 agents, 1 entry"


def test_the_picture_holds_text_only_as_text(widgets: list[Timeline]) -> None:
    """It is well-formed XML, without scripts, links or handlers, whatever was recorded."""
    for widget in widgets:
        picture = ET.fromstring(widget.svg())
        tags = {element.tag.removeprefix(SVG) for element in picture.iter()}
        assert tags <= {"svg", "title", "rect", "defs", "pattern", "text", "path", "line"}
        names = {name for element in picture.iter() for name in element.attrib}
        assert not {name for name in names if name.startswith("on") or "href" in name}
    said = "".join(ET.fromstring(widgets[0].svg()).itertext())
    assert "<script>alert(1)</script>" in said
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_the_picture_tells_states_without_colour(messages: Build) -> None:
    """Unknown is hatched and has a question mark; clean has neither."""
    clean = TaintTimeline(messages([{"state": "clean"}])).svg()
    unknown = TaintTimeline(messages([{"state": "unknown"}])).svg()
    assert "url(#sl-unknown)" in unknown
    assert "url(#sl-unknown)" not in clean
    # one in the legend's key, two in the cells of the two legs
    assert (unknown.count(">?</text>"), clean.count(">?</text>")) == (2, 0)


def test_the_picture_stays_small(spans: Build) -> None:
    """5,000 entries in 80 lanes: marks that touch are one, and lanes beyond 60 are counted in words."""
    rows = [
        {
            "span_id": f"{n}",
            "kind": "shell",
            "agent_id": f"a{n % 80:02d}",
            "lane": n % 80,
            "begin_order": n,
            "end_order": n,
        }
        for n in range(5_000)
    ]
    picture = AgentTimeline(spans(rows)).svg()
    assert len(picture) < 120_000
    assert "20 more agents not shown here." in picture


def test_empty_tables_have_a_sentence(spans: Build, messages: Build) -> None:
    """An empty picture says that there was nothing to draw."""
    assert "No agents and no entries in the table given." in AgentTimeline(spans([])).svg()
    assert "No messages in the table given." in TaintTimeline(messages([])).svg()


def test_state_is_what_the_browser_needs(widgets: list[Timeline]) -> None:
    """A page starts from our own traits, not from Jupyter's."""
    assert sorted(widgets[0].state()) == ["axis", "height", "payload", "selected"]
    assert sorted(widgets[1].state()) == ["height", "payload", "selected"]


class Elements(HTMLParser):
    """The start tags of a page, and the text inside of its scripts."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a start tag."""
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        """Note the text of a script."""
        if self.found and self.found[-1][0] == "script":
            self.scripts[-1] += data


def test_a_page_holds_data_only_as_data(widgets: list[Timeline], hostile: str) -> None:
    """As many scripts as it was made with; no element, handler or link that came from data; the payload comes back."""
    html = page([(hostile, widgets[0]), hostile, widgets[1]], title=hostile)
    parsed = Elements()
    parsed.feed(html)
    tags = [tag for tag, _ in parsed.found]
    assert tags.count("script") == 3
    assert "img" not in tags
    assert not [name for _, attributes in parsed.found for name in attributes if name.startswith("on") or name == "src"]
    assert [json.loads(script) for script in parsed.scripts[:2]] == [widget.state() for widget in widgets]
    assert "\x00" not in html


def test_a_page_forbids_all_loading(widgets: list[Timeline]) -> None:
    """The policy lets run its own script only and load nothing; no address of another place is in it."""
    html = page(widgets, title="t")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline'; base-uri" in policy[1]
    assert "script-src 'unsafe" not in policy[1]
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_a_page_refuses_what_it_cannot_show() -> None:
    """The error names what a section may be."""
    with pytest.raises(TypeError, match=r"a section is a widget, .heading, widget. or text; found int"):
        page([("heading", 3)], title="t")  # type: ignore[list-item]


def test_modules_are_what_anywidget_expects() -> None:
    """One default export, no import, no network; and inlined it is an expression."""
    for name, widget in (("agent_timeline", AgentTimeline), ("taint_timeline", TaintTimeline)):
        assert issubclass(widget, anywidget.AnyWidget)
        source = str(widget._esm)
        assert source.endswith("\nexport default { render };\n")
        assert not re.search(
            r"^\s*import\b|\bfetch\(|XMLHttpRequest|innerHTML|outerHTML|insertAdjacent|\beval\(", source, re.MULTILINE
        )
        assert "export" not in _source.expression(source).replace("exported", "")
        assert f"sl-{'marks' if name == 'agent_timeline' else 'list'}" in str(widget._css)
    with pytest.raises(ValueError, match="expected one line that begins with 'export default ', found 0"):
        _source.expression("const x = 1;")


def test_widgets_know_no_engine() -> None:
    """Widgets are given a table: importing them loads no database, no formats, no data frames."""
    heavy = "{'duckdb', 'polars', 'altair', 'sessionlab.corpus', 'sessionlab.views', 'sessionlab.formats', 'msgspec'}"
    program = f"import sys, sessionlab.widgets; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
