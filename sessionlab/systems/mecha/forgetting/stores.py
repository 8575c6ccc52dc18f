"""Nothing in; every store that copies from a transcript out, as data: its files, and how they point at a session.

The specification says what becomes of each store (15.3), and leaves open how most of them are written. What is
declared here is therefore assumed: the names of files and members are those of mecha's public source of autumn 2026,
but for the ledger of session marks, whose place is not public. All of it is kept narrow: a row is edited or goes only
when a member named here **equals** the id, or the id of a reflection, draft or question that was found through it. A
row of any other shape is left alone, and the search after the walk names its file. `shapes` tells all of it in
sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from sessionlab.systems.mecha.forgetting.places import DEFAULTS

Key = Literal["session", "reflections", "items", "questions"]
"""Whose ids a member may hold: the session's, or those of its reflections, drafts (outbox items) and questions."""

Effect = Literal["row", "null", "member", "element", "entry", "blank", "source", "support"]
"""What becomes of what points:

- ``row``: the row or file it stands in goes;
- ``null``, ``blank``: its value becomes ``null`` or ``""``;
- ``member``: the member goes, and those named beside it;
- ``element``: the list loses it;
- ``entry``: the entry of the list it stands in goes;
- ``source``: the list loses it, and the entry it stands in goes when nothing is left in that list;
- ``support``: the list loses it, and the row or file goes when nothing is left in that list.
"""

Kind = Literal["items", "rows", "lines", "log", "rules", "named"]
"""How files are written:

- ``items``: one JSON object each;
- ``rows``: a JSON object per line;
- ``lines``: an id per line, and nothing else on it;
- ``log``: text for people, a line at a time;
- ``rules``: TOML, an array of tables ``rules``;
- ``named``: anything, under a name made of the session's id.
"""

When = Literal["always", "graph answered", "learning answered", "nothing failed"]


class Pointer(NamedTuple):
    """A member that points.

    Attributes:
        path: names joined by dots; ``[]`` is each entry of a list, ``**`` any depth.
        key: whose id it holds.
        effect: what becomes of it.
        beside: members of the same object that go with it (effect ``member``).
    """

    path: str
    key: Key
    effect: Effect
    beside: tuple[str, ...] = ()


class Part(NamedTuple):
    """Files of one shape.

    Attributes:
        store: the name of its place.
        files: their path below it; ``*`` within a name, ``{id}`` for the session's.
        kind: how they are written.
        pointers: for ``items`` and ``rows``: the members that point.
        keys: for ``lines``: whose ids they hold.
    """

    store: str
    files: str
    kind: Kind
    pointers: tuple[Pointer, ...] = ()
    keys: tuple[Key, ...] = ()


class Step(NamedTuple):
    """One station of the walk.

    Attributes:
        name: as the report counts it.
        parts: the files it looks through.
        lock: the directory whose ``.lock`` is held, below its store; ``*`` stands for each directory; empty where a
            store has no lock of its own, and its files are replaced whole by everyone.
        when: what must have gone well before.
        label: the name of the store with which its errors begin.
        group: ``learning`` for the stores that are found through the reflections.
    """

    name: str
    parts: tuple[Part, ...]
    lock: tuple[str, str] | None = None
    when: When = "always"
    label: str = ""
    group: str = ""


_BY_SESSION = (Pointer("session_id", "session", "row"),)
_BY_REFLEXION = (Pointer("reflexion_id", "reflections", "row"),)
_CHANGE = (
    Pointer("rules[].sources", "reflections", "source"),
    Pointer("rules_before[].sources", "reflections", "source"),
)
_LEARNING = ("learning", "")

OUTBOX_ITEMS = Part("outbox", "*.json", "items", _BY_SESSION)
"""Drafts of the session; the file's name without ``.json`` is the draft's id."""
OUTBOX_ASIDE = Part("outbox", "*.json.forgetting", "items", _BY_SESSION)
"""Drafts set aside: nobody reads them, and their ids are still known while the ledgers that name them are purged."""
QUESTION_ITEMS = Part("questions", "*.json", "items", _BY_SESSION)
REFLECTIONS = Part("learning", "reflections.jsonl", "rows", _BY_SESSION)
REFLECTION_ID, LESSON = "id", "reflexion_text"
"""Members of a reflection: its id, and the lesson that logs quote."""
DISTILLED = Part("learning", "distilled.jsonl", "lines", keys=("session",))
"""The distill ledger: sessions of which the knowledge graph was given an episode."""

BEFORE_GRAPH: tuple[Step, ...] = (
    Step(
        "front-door requests",
        (
            Part(
                "requests",
                "*.json",
                "items",
                (Pointer("triage_session", "session", "null"), Pointer("outbox", "items", "element")),
            ),
        ),
    ),
    Step("mail triage", (Part("mail-triage", "*.json", "items", (Pointer("draft_session", "session", "member"),)),)),
    Step(
        "messages",
        (
            Part(
                "messages",
                "*/*.json",
                "items",
                (Pointer("from_session", "session", "row"), Pointer("delivered_to", "session", "row")),
            ),
        ),
        lock=("messages", "*"),
    ),
    Step("picture prompts", (Part("sessions", "{id}.prompts.jsonl", "named"),)),
    Step(
        "scene",
        (
            Part("sessions", "{id}.scene.json", "named"),
            Part("scene", "latest.json", "items", (Pointer("chat", "session", "row"),)),
            Part("scene", "index/*.json", "items", (Pointer("chat", "session", "row"),)),
        ),
    ),
)

_LEARNING_STORE: tuple[tuple[str, tuple[Part, ...], When], ...] = (
    (
        "interrupted rule changes",
        tuple(
            Part(
                "learning",
                name,
                "items",
                (
                    *_CHANGE,
                    Pointer("reflexion_ids", "reflections", "element"),
                    *(pointer._replace(path=f"proposal.{pointer.path}") for pointer in _CHANGE),
                    Pointer("proposal.reflexion_ids", "reflections", "element"),
                ),
            )
            for name in ("commit.json", "commit.unfinished.*.json")
        ),
        "always",
    ),
    ("mining ledger", (Part("learning", "mined.jsonl", "lines", keys=("session",)),), "always"),
    ("distill ledger", (DISTILLED,), "graph answered"),
    (
        "validation ledger",
        (
            Part("learning", "validations.jsonl", "rows", _BY_REFLEXION),
            Part("learning", "validation-attempts.jsonl", "rows", _BY_REFLEXION),
        ),
        "always",
    ),
    (
        "artifact probes",
        (
            Part(
                "learning",
                "artifact-probes/*.json",
                "items",
                (*_BY_SESSION, Pointer("reflection_id", "reflections", "row")),
            ),
        ),
        "always",
    ),
    (
        "proposals",
        (
            Part(
                "learning",
                "proposals/*.json",
                "items",
                (*_CHANGE, Pointer("reflexion_ids", "reflections", "support")),
            ),
        ),
        "always",
    ),
    ("learned rules", (Part("learning", "rules/*.learned.toml", "rules"),), "always"),
    ("learning logs", (Part("learning", "logs/*", "log"),), "always"),
    ("reflections", (REFLECTIONS,), "learning answered"),
)

AFTER_GRAPH: tuple[Step, ...] = (
    Step(
        "harness candidates",
        (
            Part(
                "harness",
                "candidates/*.json",
                "items",
                (
                    Pointer("measurement.episodes", "session", "element"),
                    Pointer("measurement.holdout_episodes", "session", "element"),
                    Pointer("measurement.divergence_detail[].episode", "session", "entry"),
                ),
            ),
        ),
        lock=("harness", ""),
        group="learning",
    ),
    Step(
        "comparisons",
        (
            Part(
                "comparisons",
                "comparisons.jsonl",
                "rows",
                (
                    Pointer("pointers.session_id", "session", "row"),
                    Pointer("pointers.reflection_id", "reflections", "row"),
                ),
            ),
        ),
        lock=("comparisons", ""),
        group="learning",
    ),
    *(
        Step(name, parts, lock=_LEARNING, when=when, label="learning store", group="learning")
        for name, parts, when in _LEARNING_STORE
    ),
    Step(
        "appraisals",
        tuple(
            Part("appraisals", f"{name}.jsonl", "rows", _BY_SESSION)
            for name in ("appraisals", "scores", "counterfactuals")
        ),
        lock=("appraisals", ""),
    ),
    Step("session marks", (Part("sessions", ".marks/marks.jsonl", "rows", _BY_SESSION),), lock=("sessions", ".marks")),
    Step(
        "closures",
        (Part("closures", "closures.jsonl", "rows", (Pointer("sessions", "session", "element"),)),),
        lock=("closures", ""),
    ),
    Step(
        "trigger ledger",
        (Part("triggers", "runs.jsonl", "rows", (Pointer("session_id", "session", "member", ("summary",)),)),),
        lock=("triggers", ""),
    ),
    Step(
        "workflows",
        (
            Part(
                "workflows",
                "*.json",
                "items",
                (
                    Pointer("**.session_id", "session", "null"),
                    Pointer("**.session", "session", "null"),
                    Pointer("events[].detail", "session", "blank"),
                    Pointer("outbox", "items", "element"),
                    Pointer("questions", "questions", "element"),
                ),
            ),
        ),
        lock=("workflows", ""),
    ),
    Step("slack threads", (Part("slack", "*.json", "items", _BY_SESSION),), lock=("slack", "")),
    Step("regression pins", (Part("pins", "", "lines", keys=("session",)),)),
    Step("live-session marker", (Part("messages", ".agents/{id}.json", "named"),)),
)

DRAFTS_ASIDE = "drafts set aside"
"""Before their mined marks go, so that no draft is ever there to be mined again without its mark."""

KEYS_LAST: tuple[Step, ...] = (
    Step(
        "mined-drafts ledger",
        (Part("learning", "mined_outbox.jsonl", "lines", keys=("items",)),),
        lock=_LEARNING,
        when="nothing failed",
        label="learning store",
    ),
    Step(
        "draft forecasts",
        (
            Part(
                "outbox",
                "forecasts/forecasts.jsonl",
                "rows",
                (*_BY_SESSION, Pointer("item_id", "items", "row")),
            ),
        ),
        lock=("outbox", "forecasts"),
        when="nothing failed",
    ),
    Step("outbox", (OUTBOX_ITEMS, OUTBOX_ASIDE), lock=("outbox", ""), when="nothing failed"),
    Step("questions", (QUESTION_ITEMS,), lock=("questions", ""), when="nothing failed"),
)

ARCHIVE_MARK = Step("archive mark", (Part("sessions", ".archived/{id}", "named"),))

LEAST_LESSON = 24
"""Characters of a lesson (or of one of its lines) from which on a log line that quotes it goes: a shorter text is a
common phrase, and would take lines about other conversations with it."""
LEAST_ID = 6
"""Characters of a reflection's id from which on a log line that names it goes, for the same reason."""

_PLACES = {"harness": "learning/harness"}
_EFFECTS: dict[Effect, str] = {
    "row": "the {row} goes",
    "null": "it becomes null",
    "member": "the member goes{beside}",
    "element": "the list loses it",
    "entry": "the list's entry goes",
    "blank": "it becomes an empty text",
    "source": "the list loses it, and the entry goes with its last source",
    "support": "the list loses it, and the file goes with its last support",
}
_WHOSE: dict[Key, str] = {
    "session": "the session",
    "reflections": "one of its reflections",
    "items": "one of its drafts",
    "questions": "one of its questions",
}


def steps() -> tuple[Step, ...]:
    """Every step that looks through files, in the order of 15.2."""
    return (*BEFORE_GRAPH, *AFTER_GRAPH, *KEYS_LAST, ARCHIVE_MARK)


def shapes() -> Iterator[tuple[str, str, str]]:
    """What is assumed about each store: the step's name, the files at their default place, and a sentence."""
    for step in steps():
        for part in step.parts:
            place = _PLACES.get(part.store) or DEFAULTS.get(part.store) or part.store
            yield step.name, f"{place}/{part.files}".rstrip("/"), _sentence(part)
    yield "workspace", "work/…", "the folder that the header names goes, when no other header names it or one in it"
    yield "workspace", "spill/…", "the folder of the same path as the workspace has below `work/` goes with it"
    yield "workspace", "spill/{id}", "the folder goes"


def _sentence(part: Part) -> str:
    if part.kind == "named":
        return "the file goes"
    if part.kind == "lines":
        whose = " or ".join(_WHOSE[key] for key in part.keys)
        return f"a line that is the id of {whose}, and nothing else, goes"
    if part.kind == "log":
        return (
            "a line goes that names the session, or one of its reflections"
            f" (an id of at least {LEAST_ID} characters), as a whole word, or quotes a lesson, or a line of one,"
            f" of at least {LEAST_LESSON} characters"
        )
    if part.kind == "rules":
        return (
            "a table of `[[rules]]` loses the session's reflections from `sources`, and goes with its last source;"
            " one without `sources` stays"
        )
    row = "file" if part.kind == "items" else "row"
    told = []
    for pointer in part.pointers:
        beside = f", and with it {', '.join(f'`{name}`' for name in pointer.beside)}" if pointer.beside else ""
        effect = _EFFECTS[pointer.effect].format(row=row, beside=beside)
        told.append(f"`{pointer.path}` holds the id of {_WHOSE[pointer.key]}: {effect}")
    return "; ".join(told)
