"""A folder in; an invented mecha home out, every store filled for a session to be deleted and for one that stays."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from sessionlab.systems.mecha.forgetting import Graph, Places, Report, forget, places

GONE, STAYS = "20261004T070000-0dd5eed5", "20261004T080000-600dcafe"
CANARY = "a heron stood on the ferry's radar mast"
"""What only the session to be deleted ever said."""
LESSON = f"Before counting, look up: {CANARY}."
REFLECTION, OTHER_REFLECTION = "refl-0dd5eed5", "refl-600dcafe"
SHARED_RULE, OLD_RULE, OWN_RULE = "Answer in one line.", "Say which file.", "Never on a Sunday."
SLOT = "2026-10-04T07:00:00Z"


def row(**members: object) -> str:
    """A JSON object on one line."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def write(path: Path, *lines: str, mode: int = 0o600) -> Path:
    """A file of lines, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    path.chmod(mode)
    return path


def transcript(home: Path, session: str, workspace: Path | str, *said: str) -> Path:
    """A transcript with a header and some messages."""
    meta = row(
        record="meta", id=session, created_at="2026-10-04T07:00:00Z", provider="local", model="m1",
        workspace=str(workspace), title=f"web: {said[0]}" if said else None, kind="web",
    )  # fmt: skip
    messages = [row(record="message", role="user", content=[{"type": "text", "text": text}]) for text in said]
    return write(home / "sessions" / f"{session}.jsonl", meta, *messages)


def graph_program(folder: Path, code: int = 0, words: str = "") -> Path:
    """A program in place of the knowledge graph's; it notes what it was called with in ``calls`` beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "mecha-graph"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/calls"\necho "{words}" >&2\nexit {code}\n')
    program.chmod(0o755)
    return program


def no_graph() -> Graph:
    """A graph of which there is no program."""
    return Graph("there-is-no-such-program-as-this")


class AnsweringGraph(Graph):
    """A graph that answers without a program being started."""

    def found(self) -> str | None:
        """Somewhere."""
        return "/somewhere/mecha-graph"

    def redact(self, session: str) -> None:
        """Nothing is asked of anybody."""


def small(home: Path, workspace: Path | str | None = None, *said: str) -> Places:
    """A home with nothing but the session's transcript."""
    transcript(home, GONE, home / "work" / "web" / "alone" if workspace is None else workspace, *(said or (CANARY,)))
    return places(home)


def delete(home: Places, session: str = GONE, graph: Graph | None = None) -> Report:
    """Delete a session; the graph answers unless told otherwise."""
    return forget(home, session, graph=graph or AnsweringGraph())


def seeded(home: Path) -> Places:
    """Every store filled for both sessions. Rows that stay have members nobody knows, and numbers as few write them."""
    _conversations(home)
    _items(home)
    _learning(home / "learning")
    _ledgers(home)
    return places(home)


def _conversations(home: Path) -> None:
    for session, name, said in ((GONE, "heron", CANARY), (STAYS, "wren", "an ordinary afternoon")):
        transcript(home, session, home / "work" / "web" / name, said, "thanks")
        write(home / "work" / "web" / name / "inbox" / "photo.txt", said)
        write(home / "spill" / "web" / name / "out-1.txt", said)
        write(home / "spill" / session / "out-2.txt", said)
        write(home / "sessions" / f"{session}.prompts.jsonl", row(prompt=said))
        write(home / "sessions" / f"{session}.scene.json", row(chat=session, light=said))
        write(home / "sessions" / ".archived" / session, "2026-10-04T09:00:00+00:00")
        write(home / "scene" / "index" / f"{name}.json", row(chat=session, light=said))
        write(home / "messages" / ".agents" / f"{session}.json", "{}")
    write(home / "scene" / "latest.json", row(chat=GONE, light=CANARY))
    write(
        home / "sessions" / ".marks" / "marks.jsonl",
        row(session_id=GONE, kind="experiment", reason=CANARY), row(session_id=STAYS, kind="experiment", reason="dry"),
    )  # fmt: skip


def _items(home: Path) -> None:
    write(home / "outbox" / "draft-heron.json", row(id="draft-heron", session_id=GONE, args={"body": CANARY}))
    write(home / "outbox" / "draft-wren.json", row(id="draft-wren", session_id=STAYS, args={}))
    write(
        home / "outbox" / "forecasts" / "forecasts.jsonl",
        row(session_id=GONE, item_id="draft-heron", p=0.5), row(session_id=STAYS, item_id="draft-heron", p=0.25),
        '{"session_id":"' + STAYS + '","item_id":"draft-wren","p":7.50E-1,"later":[1,2.0]}',
    )  # fmt: skip
    write(home / "questions" / "ask-heron.json", row(id="ask-heron", session_id=GONE, question=f"{CANARY}?"))
    write(home / "questions" / "ask-wren.json", row(id="ask-wren", session_id=STAYS, question="Which one?"))
    inbox = home / "messages" / "hermes"
    write(inbox / "sent.json", row(id="sent", from_session=GONE, body=CANARY))
    write(inbox / "received.json", row(id="received", from_session=STAYS, delivered_to=GONE, body="hello"))
    write(inbox / "other.json", row(id="other", from_session=STAYS, delivered_to=None, body="hi", later=True))
    write(
        home / "requests" / "9-meeting.json",
        f'{{"id": 9, "weight": 1.50, "triage_session": "{GONE}",\n "outbox": ["draft-heron", "draft-wren"], "x": 1e2}}',
        mode=0o640,
    )
    write(home / "mail-triage" / "thread.json", f'{{"thread":"t1","draft_session":"{GONE}","verdict":"reply","n":1.0}}')
    write(
        home / "workflows" / "weekly.json",
        "{",
        f'  "id": "weekly", "session_id": "{GONE}", "cost": 0.10,',
        '  "outbox": ["draft-heron", "draft-wren"], "questions": ["ask-heron", "ask-wren"],',
        f'  "events": [{{"kind": "started", "detail": "{GONE}"}}, {{"kind": "note", "detail": "kept"}}],',
        f'  "history": [{{"session": "{GONE}", "ok": true}}, {{"session": "{STAYS}", "ok": false}}]',
        "}",
    )
    write(home / "slack" / "threads" / "C1-1.json", row(session_id=GONE, channel="C1"))
    write(home / "slack" / "threads" / "C1-2.json", row(session_id=STAYS, channel="C1"))


def _learning(learning: Path) -> None:
    write(
        learning / "reflections.jsonl",
        row(id=REFLECTION, session_id=GONE, reflexion_text=LESSON),
        '{"id": "'
        + OTHER_REFLECTION
        + '", "session_id": "'
        + STAYS
        + '", "reflexion_text": "Be brief.", "later": 1.0}',
        "{torn",
    )
    write(learning / "mined.jsonl", STAYS, GONE)
    write(learning / "distilled.jsonl", GONE, STAYS)
    write(learning / "mined_outbox.jsonl", "draft-heron", "draft-wren")
    for name in ("validations", "validation-attempts"):
        write(
            learning / f"{name}.jsonl",
            row(reflexion_id=REFLECTION, arms=[CANARY]), row(reflexion_id=OTHER_REFLECTION, arms=[1.0]),
        )  # fmt: skip
    probes = learning / "artifact-probes"
    write(probes / "p1.json", row(session_id=GONE, reflection_id=OTHER_REFLECTION))
    write(probes / "p2.json", row(session_id=STAYS, reflection_id=REFLECTION))
    write(probes / "p3.json", row(session_id=STAYS, reflection_id=OTHER_REFLECTION))
    alone = {"text": f"Mind {CANARY}.", "sources": [REFLECTION]}
    shared = {"text": SHARED_RULE, "sources": [REFLECTION, OTHER_REFLECTION]}
    write(learning / "proposals" / "alone.json", row(id="alone", reflexion_ids=[REFLECTION], rules=[{"text": CANARY}]))
    write(
        learning / "proposals" / "both.json",
        row(id="both", reflexion_ids=[REFLECTION, OTHER_REFLECTION], rules=[alone, shared], rules_before=[alone]),
    )
    write(
        learning / "proposals" / "other.json",
        row(id="other", reflexion_ids=[OTHER_REFLECTION], rules=[], rules_before=[alone], later=2.50),
    )
    write(
        learning / "commit.json",
        row(rules=[shared], rules_before=[alone], reflexion_ids=[REFLECTION], proposal={"rules": [alone]}),
    )
    write(learning / "rules" / "behavior.user.toml", "[[rules]]", f'text = "{OWN_RULE}"')
    write(learning / "rules" / "behavior.learned.toml", *_rules(), mode=0o644)
    write(
        learning / "logs" / "nightly.log",
        f"distill: {GONE} gave ep-1", f"  [steer] {LESSON}", f"validate {REFLECTION}: kept", "reflect: 2 sessions",
    )  # fmt: skip
    write(
        learning / "harness" / "candidates" / "c1.json",
        row(
            id="c1",
            measurement={
                "episodes": [GONE, STAYS], "holdout_episodes": [GONE],
                "divergence_detail": [{"episode": GONE, "at": 3}, {"episode": STAYS, "at": 4}],
            },
        ),
    )  # fmt: skip


def _rules() -> Iterable[str]:
    """One rule of the session alone, one that another session supports too, one from before sources were kept."""
    yield "# what was learned"
    yield ""
    yield f"[[rules]]\ntext = '''\nMind {CANARY}.\n[[rules]]\n'''\nid = \"r-alone\"\nsources = [\"{REFLECTION}\"]\n"
    yield f'[[rules]]\ntext = "{SHARED_RULE}"\nid = "r-both"\nweight = 1.50 # as measured'
    yield f'sources = [\n  "{REFLECTION}", # the ferry\n  "{OTHER_REFLECTION}",\n]\n'
    yield f'[[rules]]\ntext = "{OLD_RULE}"\nid = "r-old"'


def _ledgers(home: Path) -> None:
    appraisals = home / "appraisals"
    write(
        appraisals / "appraisals.jsonl",
        row(session_id=STAYS, note="before"), row(session_id=GONE, interpretation=CANARY), "not json at all",
        '{"session_id":"' + STAYS + '","score":1e-1,"later":{"a":[]}}',
    )  # fmt: skip
    write(appraisals / "scores.jsonl", row(session_id=GONE, score=1), row(session_id=STAYS, score=2))
    write(appraisals / "counterfactuals.jsonl", row(session_id=GONE, quote=CANARY))
    write(
        home / "comparisons" / "comparisons.jsonl",
        row(id="c-a", pointers={"session_id": GONE}),
        row(id="c-b", pointers={"session_id": STAYS, "reflection_id": REFLECTION}),
        row(id="c-c", pointers={"session_id": STAYS}),
    )
    write(
        home / "closures" / "closures.jsonl",
        '{"task": "t1", "sessions": ["' + GONE + '", "' + STAYS + '"], "cost": 0.50}',
        row(task="t2", sessions=[STAYS]),
    )
    write(
        home / "triggers" / "runs.jsonl",
        '{"trigger":"briefing","slot":"'
        + SLOT
        + '","session_id":"'
        + GONE
        + '","summary":"'
        + CANARY
        + '","took":2.0}',
        row(trigger="briefing", session_id=STAYS, summary="two birds"),
    )
    write(home / "regression-sessions.txt", GONE, STAYS)
    write(home / "config.toml", "[agent]", 'name = "mecha"')
    write(home / "surfaces" / "35dad1877a5a180c.json", "[]")


def holding(folder: Path, needle: str) -> list[str]:
    """Every file below a folder that holds ``needle`` in its name or its bytes, by its path from there."""
    found = []
    for above, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(above, name)
            if needle in name or (path.is_file() and needle.encode() in path.read_bytes()):
                found.append(str(path.relative_to(folder)))
    return sorted(found)


def state(folder: Path) -> dict[str, str]:
    """Every file below a folder but lock files: its mode and its bytes' digest."""
    found = {}
    for above, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(above, name)
            if path.is_file() and name != ".lock":
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path.relative_to(folder))] = f"{path.stat().st_mode & 0o777:o} {digest}"
            elif path.is_dir():
                found[str(path.relative_to(folder))] = "folder"
    return found
