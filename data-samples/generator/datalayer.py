"""Jobs in, datalayer session files out: a head that describes the session, then its entries in order of record."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from generator import prose
from generator.story import DATALAYER, Job

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

NOT_CLONED = frozenset({"session", "paused", "ended", "cloned", "exported", "imported", "titled"})
"""Kinds a clone leaves behind."""
NOT_IMPORTED = NOT_CLONED - {"titled"}
TOOLS = {
    "read": "read_file", "list": "list_files", "search": "search_files", "shell": "run_command", "test": "run_checks",
    "edit": "edit_file", "write": "write_file", "fetch": "fetch_page",
}  # fmt: skip


def write(_ledger: object) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every datalayer file; the format records no tokens, so nothing is entered in the books."""
    cloned: Session | None = None
    for number, job in enumerate(DATALAYER):
        session = Session(job, Random(f"datalayer/{number}"))
        if "clone" in job.traits and cloned is not None:
            session.clone(cloned, at_turn=2)
        if "import" in job.traits:
            session.take_in(_elsewhere())
        session.work()
        if "cloned" in job.traits:
            cloned = session
            other = next(one for one in DATALAYER if "clone" in one.traits)
            session.clock = other.at
            session.entry("cloned", to=_uid(Random(f"datalayer/{DATALAYER.index(other)}")), at_turn=2)
        yield f"datalayer/{session.uid}.session.jsonl", session.written()


def _elsewhere() -> Session:
    """A session of another runtime, from which one of the corpus was imported; its own file is not part of it."""
    job = DATALAYER[5]
    other = Session(job._replace(at=job.at - timedelta(days=6), runs=2, traits=frozenset({"failures"})), Random("away"))
    other.work()
    return other


def _uid(rng: Random) -> str:
    return f"{rng.getrandbits(128):032x}"


class Session:
    """One session in the making."""

    def __init__(self, job: Job, rng: Random) -> None:
        self.uid = _uid(rng)
        self.job, self.rng, self.topic = job, rng, prose.TOPICS[job.topic]
        self.clock: datetime = job.at
        self.entries: list[Json] = []
        self.lineage: Json = {"forked_from": None, "imported_from": None}
        self.title = prose.title(self.topic, prose.ask(rng, self.topic))
        self.agent, self.harness = "keeper", "codex" if "harness" in job.traits else None
        self.state, self.archived = "open", False

    def entry(self, kind: str, summary: str = "", /, **payload: Any) -> None:  # noqa: ANN401 (JSON)
        """Append an entry."""
        at = f"{self.clock:%Y-%m-%dT%H:%M:%S.%f}Z"
        self.entries.append({"record_type": "entry", "kind": kind, "at": at, "summary": summary, "payload": payload})

    def clone(self, source: Session, *, at_turn: int) -> None:
        """Begin with what ``source`` held up to a turn; the session's own record follows."""
        turns = [n for n, entry in enumerate(source.entries) if entry["kind"] == "turn"]
        kept = source.entries[: turns[at_turn - 1] + 1]
        self.entries = [entry for entry in kept if entry["kind"] not in NOT_CLONED]
        self.lineage["forked_from"] = {"uid": source.uid, "at_turn": at_turn}
        self.title = source.title
        self.state = "paused"
        self._open()
        self.entry("cloned", **{"from": source.uid, "at_turn": at_turn})
        self.state = "open"

    def take_in(self, other: Session) -> None:
        """Begin with the entries of another runtime's file."""
        data = other.written()
        claim = {
            "digest": "sha256:" + hashlib.sha256(data).hexdigest(),
            "exported_at": f"{self.clock - timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}Z",
            "exported_by": "u-harbour-desk",
        }
        self.lineage["imported_from"] = claim
        self.title = other.title
        self.state = "paused"
        self._open()
        self.entries += [entry for entry in other.entries if entry["kind"] not in NOT_IMPORTED]
        self.entry("imported", **claim, redactions=0, file_version=3, current_version=4, source_uid=other.uid)
        self.state = "open"

    def work(self) -> None:
        """Write the session's own record."""
        traits = self.job.traits
        self._open()
        if "rules" in traits:
            rule = {"name": "no-post", "decision": "ask_first", "classes": ["outward"], "kinds": [], "where": ""}
            self.entry(
                "rule", rule={**rule, "paths": [], "commands": [], "reason": "a person sends what leaves the house"}
            )
        for number in range(1, self.job.runs + 1):
            self.clock += timedelta(seconds=self.rng.randint(60, 900))
            self._run(number, last=number == self.job.runs)
        if "archived" in traits:
            self.archived = True
            self.entry("titled", title=self.title, archived=True)
        if "ended" in traits:
            self.clock += timedelta(minutes=4)
            self.state = "ended"
            self.entry("ended", state="ended", by="end")

    def written(self) -> bytes:
        """The file as an exporter writes it."""
        head = {
            "record_type": "session",
            "format": "datalayer-session/1",
            "uid": self.uid,
            "app": {"id": "station-desk", "version": 4},
            "agent": self.agent,
            "harness": self.harness,
            "owner": {"uid": "u-ada"},
            "state": self.state,
            "turns": sum(entry["kind"] == "turn" for entry in self.entries),
            "title": self.title,
            "archived": self.archived,
            "lineage": self.lineage,
            "kinds": sorted({entry["kind"] for entry in self.entries}),
            "entries": len(self.entries),
            "exported_at": f"{self.clock + timedelta(hours=5):%Y-%m-%dT%H:%M:%S.%f}Z",
            "exported_by": {"uid": "u-ada"},
            "redactions": 0,
        }
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (head, *self.entries)).encode()

    def _open(self) -> None:
        opened = {"app": {"id": "station-desk", "version": 4}, "state": self.state, "agent": self.agent}
        self.entry("session", **opened, harness=self.harness, title=self.title, archived=False, lineage=self.lineage)

    def _run(self, number: int, *, last: bool) -> None:
        rng, traits = self.rng, self.job.traits
        middle = number == (self.job.runs + 1) // 2
        self.entry("run")
        if "checks" in traits or "retry" in traits:
            self.entry("check", stage="preflight", action="proceed", gate="secrets", guard="scan", passed=True)
        if middle and "swapped" in traits:
            self._swap(number)
        failed = False
        for _ in range(rng.randint(3, 6)):
            failed = self._call(failing=rng.random() < (0.18 if "failures" in traits else 0.05))
        if self.harness is not None:
            self._terminal(number)
        if middle and "approvals" in traits:
            self._approvals()
        if middle and "retry" in traits:
            self.entry("check", stage="post_run", action="retry", gate="sums", guard="totals", passed=False)
            failed = self._call(failing=False)
        if "checks" in traits or "retry" in traits:
            self.entry("check", stage="post_run", action="proceed", gate="sums", guard="totals", passed=True)
        self.clock += timedelta(seconds=rng.randint(2, 20))
        if last and "unfinished" in traits:
            return
        self._finish(failed=failed, stopped=last and "limit" in traits, error=middle and "error" in traits)
        if middle and "feedback" in traits:
            self.entry("feedback", liked=number % 2 == 0, comment="Say which datum.", by="u-ada")
        if middle and "notify" in traits:
            self.entry("notification", channel="email", event="answer", delivery="failed", detail="mailbox full")

    def _call(self, *, failing: bool) -> bool:
        act = prose.act(self.rng, self.topic, failed=failing)
        self.clock += timedelta(milliseconds=self.rng.randint(400, 9_000))
        tool, given = TOOLS[act.kind], str({"target": act.subject})
        decided = {"tool": tool, "behaviour": "do_it", "because": "permission", "classes": ["read"]}
        if act.kind in {"edit", "write", "shell", "test"}:
            self.entry("decision", **{**decided, "classes": ["change"], "because": "rule_on_class"})
        began = self.clock
        self.clock += timedelta(milliseconds=self.rng.randint(80, 4_000))
        span = {"started_at": f"{began.isoformat(timespec='milliseconds')}"}
        step = {
            "id": f"s-{self.rng.getrandbits(32):08x}",
            "name": tool,
            "kind": "tool",
            "parent_id": "",
            "input": act.subject,
        }
        ended = self.clock.isoformat(timespec="milliseconds")
        error = act.output[:300] if act.failed else ""
        self.entry(
            "tool_call", tool, tool=tool, arguments=given, result=act.output[:300], **({"error": True} if error else {})
        )
        self.entry("step", **step, output="" if error else act.output[:80], error=error, **span, ended_at=ended)
        return act.failed

    def _terminal(self, number: int) -> None:
        """An action of a harness: begun, shown and left in several entries that share its ids."""
        action, terminal = f"act-{number}{self.rng.randint(10, 99)}", f"tty-{number}"
        code = 2 if number == 1 else 0
        told = {"tool": "terminal", "tool_call_id": action}
        running = {**told, "kind": "execute", "status": "in_progress", "command": self.topic.test}
        self.entry("tool_call", **running, cwd=self.topic.folder, terminal_id=terminal)
        self.clock += timedelta(seconds=self.rng.randint(1, 30))
        self.entry("tool_call", tool="terminal", what="exit", terminal_id=terminal, exit_code=code)
        output = "no rule to make the report" if code else "report written"
        shown = {
            "terminal_id": terminal,
            "command": self.topic.test,
            "output": output,
            "exit_code": code,
            "released": True,
        }
        display = {
            "type": "terminal",
            "version": 1,
            "id": f"d-{number}",
            "text": self.topic.test,
            "data": shown,
            "actions": [],
        }
        self.entry("tool_call", **told, display=display)

    def _approvals(self) -> None:
        """Three sends are put before a person: one goes through, one does not, one is never answered."""
        for outcome, note in (
            ("approved", ""),
            ("declined", "Not before the harbour desk has seen it."),
            ("unanswered", ""),
        ):
            self.entry("decision", tool="send_mail", behaviour="ask_first", because="session_rule", classes=["outward"])
            self.entry("asked", kind="choice", asked_at=f"{self.clock:%Y-%m-%dT%H:%M:%S}Z")
            self.clock += timedelta(seconds=self.rng.randint(20, 400))
            self.entry("approval", tool="send_mail", outcome=outcome, asked_under="no-post", note=note)
            if outcome == "approved":
                self.entry("tool_call", "send_mail", tool="send_mail", arguments="{'to': 'desk'}", result="sent")

    def _swap(self, number: int) -> None:
        carried = {"turns": number - 1, "files": 2, "rules": 0, "settings": []}
        dropped = {"allow_always": 0, "harness_state": True, "model": "m-small"}
        self.agent = "reporter"
        names = {"from": "keeper", "to": "reporter", "from_harness": self.harness, "to_harness": self.harness}
        said = {"agent": "reporter", "harness": self.harness, "at_turn": number - 1, "said": "The reporter takes over."}
        self.entry("swapped", **names, **said, carried=carried, dropped=dropped)

    def _finish(self, *, failed: bool, stopped: bool, error: bool) -> None:
        answered = prose.answer(self.rng, self.topic, failed=failed)
        if stopped:
            limit = {"limit": "tool_calls", "threshold": 40, "count": 41}
            self.entry("decision", tool="run_command", behaviour="refused", because="shield_limit:tool_calls", **limit)
            answered = "Stopped: the session may make no more tool calls."
        if error:
            answered = "Stopped: the report could not be written."
        self.entry("turn", asked=prose.ask(self.rng, self.topic), answered=answered, suggest_tests=False)
        ended = {"ended_at": f"{self.clock:%Y-%m-%dT%H:%M:%S.%f}Z", "trace_id": f"{self.rng.getrandbits(128):032x}"}
        status = "stopped" if stopped or error else "answered"
        more = (
            {"error": "LimitReached" if stopped else "ReportError"} if stopped or error else {"length": len(answered)}
        )
        self.clock += timedelta(milliseconds=350)
        self.entry("output", "" if stopped or error else answered, status=status, **ended, **more)
