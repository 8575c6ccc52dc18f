"""Entries beside the conversation in (settings, taint, goals, titles, hooks, notes); entries of a record out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sessionlab.systems.datalayer.mapping import files
from sessionlab.systems.datalayer.mapping.lengths import summary
from sessionlab.systems.datalayer.mapping.material import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessionlab.systems.datalayer.mapping.lane import Lane
    from sessionlab.systems.datalayer.mapping.material import Material, Setting, Told
    from sessionlab.systems.datalayer.mapping.script import Payload, Script

_POST_RUN = ("Stop", "SubagentStop", "SessionEnd")
_PREFLIGHT = ("SessionStart", "UserPromptSubmit", "Setup")
_ACTIONS = {"ok": "proceed", "refused": "stop", "failed": "proceed"}
_BEHAVIOURS = {"ok": "do_it", "asked": "ask_first", "refused": "refused"}
_APPROVALS = {"ok": "approved", "refused": "declined", "unanswered": "unanswered"}
_SAID = ("message", "text", "content")


class Events:
    """Tells what stands beside the conversation.

    Attributes:
        title: the title the record has told last, None before it told one.
    """

    def __init__(self, script: Script, material: Material) -> None:
        self.title: str | None = None
        self._script, self._material = script, material
        self._in_force: dict[str, dict[str, object]] = {}
        self._tellers: dict[str, Callable[[Lane, Told, str], None]] = {
            "taint": self._taint, "goal": self._goal, "title": self._title, "hook": self._hook, "check": self._check,
            "decision": self._decision, "approval": self._approval, "feedback": self._feedback,
        }  # fmt: skip

    def tell(self, lane: Lane, told: Told, at: str) -> None:
        """An entry of a kind that is no part of the conversation."""
        self._tellers.get(told.kind, self.other)(lane, told, at)

    def settings(self, lane: Lane, setting: Setting, at: str) -> bool:
        """A configuration in force: what it changes. Whether it changed anything."""
        before = self._in_force.get(setting.agent, {})
        changed: Payload = {name: setting.values[name] for name in SETTINGS if setting.values[name] != before.get(name)}
        self._in_force[setting.agent] = setting.values
        if "permission_mode" in changed:
            changed = {"mode": changed.pop("permission_mode"), **changed}
        if changed:
            model = changed.get("model")
            draft = lane.step("policy", "config", at, **changed)
            draft.payload |= {name: None for name, value in changed.items() if value is None}
            draft.summary = summary("config", model if isinstance(model, str) else None)
        return bool(changed)

    def error(self, lane: Lane, told: Told, at: str) -> None:
        """A model call that failed."""
        said = self._said(told)
        lane.fail(told.reason)
        lane.step(
            "turn", "model_error", at, status=told.status, error=told.reason, name=told.name, purpose=told.purpose,
            text=self._script.lengths.result(said) if said else None, detail=None if said else self._detail(told),
        )  # fmt: skip

    def rewritten(self, lane: Lane, told: Told, at: str, text: str, *, what: str | None = None) -> None:
        """A list that was changed: compacted, or rewritten without a summary; ``text``: what it newly says."""
        detail = told.detail
        lane.step(
            "session", what or told.kind, at, trigger=detail.get("trigger"), before_tokens=detail.get("before_tokens"),
            after_tokens=detail.get("after_tokens"), before=detail.get("before"), kept=detail.get("kept"),
            text=self._script.lengths.said(text) if text else None,
        )  # fmt: skip

    def other(self, lane: Lane, told: Told, at: str) -> None:
        """Anything else: the recorder's word for it, and what it says."""
        native = told.native or told.kind
        text = self._material.texts(told.source, "text", told.output_ix)
        if native.startswith("attachment/"):
            held = files.attached(told.detail, text)
            file = files.attachment(held)
            if file is not None:
                self._script.add("file", at, {**file, "agent": lane.named}, summary(str(file["name"])))
                return
        lengths = self._script.lengths
        said = self._material.texts(told.source, "message", told.message_ix) or text
        lane.step(
            "session", native, at, name=told.name, status=told.status, reason=told.reason, tool_call_id=told.call_id,
            text=lengths.said(said) if said else None, detail=self._detail(told),
        )  # fmt: skip

    # -- one kind each ------------------------------------------------------------------------------------------

    def _taint(self, lane: Lane, told: Told, at: str) -> None:
        lane.step("policy", "taint", at, private=told.private, untrusted=told.untrusted)

    def _goal(self, lane: Lane, told: Told, at: str) -> None:
        lane.step("plan", "goal", at, name=told.name or "", status=told.status, detail=self._detail(told))

    def _title(self, lane: Lane, told: Told, at: str) -> None:
        """A title of this session; a summary may be another session's, and is an event then."""
        session = self._material.session
        if told.name is None or not lane.is_main or (told.native == "summary" and told.name != session.title):
            self.other(lane, told, at)
            return
        self.titled(told.name, at)

    def titled(self, title: str, at: str) -> None:
        """The session's title from here on."""
        self.title = title
        archived = bool(self._material.session.archived)
        self._script.add("titled", at, {"title": title, "archived": archived}, summary(title))

    def _hook(self, lane: Lane, told: Told, at: str) -> None:
        """A hook that came to an end is a check; one of which no end is told is an event."""
        if told.status is None:
            self.other(lane, told, at)
            return
        name = told.name or "hook"
        action = _ACTIONS.get(told.status, "proceed")
        stage = "in_flight"
        if name.startswith(_POST_RUN):
            stage = "post_run"
        elif name.startswith(_PREFLIGHT):
            stage = "preflight"
        self._script.add(
            "check", at,
            {
                "stage": stage, "action": action, "gate": name, "passed": told.status == "ok",
                "tool_call_id": told.call_id, "exit_status": told.exit_code, "agent": lane.named,
                "detail": self._detail(told),
            },
            summary(name, action),
        )  # fmt: skip

    def _check(self, lane: Lane, told: Told, at: str) -> None:
        action = told.reason or _ACTIONS.get(told.status or "", "proceed")
        passed = None if told.status is None else told.status == "ok"
        self._script.add(
            "check", at,
            {"stage": "in_flight", "action": action, "gate": told.name or "", "passed": passed, "agent": lane.named},
            summary(told.name, action),
        )  # fmt: skip

    def _decision(self, lane: Lane, told: Told, at: str) -> None:
        behaviour = _BEHAVIOURS.get(told.status or "")
        self._script.add(
            "decision", at,
            {
                "tool": told.name or "", "behaviour": behaviour, "because": told.reason or "", "classes": [],
                "tool_call_id": told.call_id, "agent": lane.named,
            },
            summary(told.name, behaviour),
        )  # fmt: skip

    def _approval(self, lane: Lane, told: Told, at: str) -> None:
        outcome = _APPROVALS.get(told.status or "")
        self._script.add(
            "approval", at,
            {
                "tool": told.name or "", "outcome": outcome, "asked_under": "", "note": self._said(told) or "",
                "tool_call_id": told.call_id, "agent": lane.named,
            },
            summary(told.name, outcome),
        )  # fmt: skip

    def _feedback(self, _lane: Lane, told: Told, at: str) -> None:
        comment = self._script.lengths.comment(self._said(told) or "")
        liked = None if told.status is None else told.status == "ok"
        self._script.add("feedback", at, {"liked": liked, "comment": comment}, summary("feedback", comment))

    # -- texts --------------------------------------------------------------------------------------------------

    def _said(self, told: Told) -> str | None:
        found = self._material.texts(told.source, "message", told.message_ix)
        found = found or self._material.texts(told.source, "text", told.output_ix)
        if found:
            return found
        return next((value for name in _SAID if isinstance(value := told.detail.get(name), str) and value), None)

    def _detail(self, told: Told) -> str | None:
        """What no member has a place for, as a text."""
        if not told.detail:
            return None
        return self._script.lengths.result(json.dumps(told.detail, ensure_ascii=False))
