"""The entries of a session in order in; the entries of its record out: one mapping by the common kind of an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.systems.datalayer.mapping import actions, files
from sessionlab.systems.datalayer.mapping.events import Events
from sessionlab.systems.datalayer.mapping.lane import Lane
from sessionlab.systems.datalayer.mapping.lengths import summary
from sessionlab.systems.datalayer.mapping.material import ROOT, AgentFacts, Call, Material, Part, Place, Told
from sessionlab.systems.datalayer.mapping.runs import BESIDE, CONVERSATION, Ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sessionlab.systems.datalayer.mapping.dialects import Dialect
    from sessionlab.systems.datalayer.mapping.script import Script
    from sessionlab.systems.datalayer.mapping.times import Times

_ASKS = frozenset({"person", None})
"""Voices whose words are a question: a person's, and nobody's in particular."""


class Walk:
    """Writes the record of a session, or of one seat of it.

    Args:
        material: what the tables tell.
        entries: those of the record, in order.
        dialect: what is particular to the format.
        script: the record being written.
        times: when each entry was stored.
        main: the agent the record is about.

    Attributes:
        events: tells what stands beside the conversation.
        own_from: how many drafts tell what was taken over from another session, which stands first.
    """

    def __init__(
        self, material: Material, entries: Sequence[Told], dialect: Dialect, script: Script, times: Times, main: str
    ) -> None:
        self.events = Events(script, material)
        self.own_from: int | None = None
        self._material, self._entries, self._dialect = material, entries, dialect
        self._script, self._times, self._main = script, times, main
        self._lanes: dict[str, Lane] = {}
        self._seen: dict[str, set[Place]] = {}
        self._asked_at: dict[Place, set[str | None]] = {}  # ids of calls by the entry that made them
        for call in material.calls:
            self._asked_at.setdefault((call.source, call.seq), set()).add(call.call_id)
        self._returned, self._unanswered, self._answered_ids = self._calls(entries)
        self._tellers: dict[str, Callable[[Lane, Told, str], None]] = {
            "message": self._message, "extend": self._message, "tool_result": self._message, "tool_call": self._message,
            "model_call": self._model_call, "model_error": self._model_error, "command": self._command,
            "rewrite": self._rewrite, "compaction": self._rewrite, "config": self._config,
            "window": self._window, "run_start": self._nothing, "run_end": self._nothing,
        }  # fmt: skip

    def write(self) -> None:
        """Write it, entry by entry."""
        ends = Ends(self._entries, self._material.outcomes)
        for told in self._entries:
            at = self._times.of(told)
            lane = self._lane(told.agent)
            if self.own_from is None and not told.is_taken_over:
                self.own_from = len(self._script.drafts)
            for setting in self._material.settings.get(told.place, ()):
                if setting.agent == told.agent:
                    self.events.settings(lane, setting, at)
            words = self._left_out(told)
            if words is not None:
                self._script.left_out[words] += 1
            else:
                if told.kind in CONVERSATION and not (told.kind in BESIDE and lane.is_new(told.run)):
                    lane.enter(told.run, at)
                self._tellers.get(told.kind, self.events.tell)(lane, told, at)
            for end in ends.after(told):
                lane.close(end.outcome, at, is_last=end.is_last)
        for lane in self._lanes.values():
            lane.finish(self._times.last)

    def helpers(self, agents: Iterable[AgentFacts]) -> None:
        """Agents of which no entry tells: a step each."""
        for agent in agents:
            if agent.agent_id not in self._lanes:
                self._lane(agent.agent_id).finish(self._times.last)

    # -- the conversation ---------------------------------------------------------------------------------------

    def _message(self, lane: Lane, told: Told, at: str) -> None:
        calls = self._returned.get(told.place, ())
        for call in calls:
            lane.act()
            actions.tell_call(self._script, self._material, lane, call, at)
        for picture in self._returned_pictures(told):
            self._script.add("file", at, {**picture, "agent": lane.named}, summary(str(picture["name"])))
        if told.message_ix is not None:
            self._see(lane, told.source, told.message_ix)
        parts = self._parts(told)
        if told.role == "assistant":
            self._reply(lane, told, parts, at)
        else:
            steered = told.detail.get("steered")
            self._heard(lane, parts, steered if isinstance(steered, str) else told.voice, at)
            if told.status == "interrupted":
                lane.stop("interrupted")
            checks = told.detail.get("plan_checks")
            if isinstance(checks, list) and checks:
                counted = {str(word): checks.count(word) for word in checks}
                lane.step("plan", "checks", at, steps=len(checks), status=counted)
        self._unreturned(lane, told, at)

    def _model_call(self, lane: Lane, told: Told, at: str) -> None:
        self._requested(lane, told, at)
        pool = self._dialect.replies or "message"
        parts = self._material.parts.get((told.source, pool, told.output_ix), []) if told.output_ix is not None else []
        parts = parts or self._parts(told)
        if told.purpose == "compaction":
            said = [f"{part.name} {part.text}" if part.kind == "call" else part.text or "" for part in parts]
            lane.heard.update(part.text or "" for part in parts)
            self.events.rewritten(lane, told, at, "\n\n".join(text for text in said if text), what="compaction")
        else:
            self._reply(lane, told, parts, at)
        self._unreturned(lane, told, at)

    def _model_error(self, lane: Lane, told: Told, at: str) -> None:
        self._requested(lane, told, at)
        self.events.error(lane, told, at)

    def _reply(self, lane: Lane, told: Told, parts: Sequence[Part], at: str) -> None:
        """Words of the model: those beside a call are not the answer."""
        for part in parts:
            if part.kind == "thinking" and part.text:
                lane.step("turn", "thinking", at, text=self._script.lengths.said(part.text))
            elif part.kind == "text" and part.text:
                lane.say(part.text, at, told.reason)
        if any(part.kind == "call" for part in parts):
            lane.act()
        self._pictures(lane, parts, at)
        if told.status == "interrupted":
            lane.stop("interrupted")

    def _heard(self, lane: Lane, parts: Sequence[Part], voice: str | None, at: str) -> None:
        """What was said to the model: a question, or words of somebody else."""
        text = "\n\n".join(part.text for part in parts if part.kind == "text" and part.text)
        for part in parts:
            if part.kind == "result" and part.call_id not in self._answered_ids and part.text:
                lane.step("turn", "result", at, tool_call_id=part.call_id, text=self._script.lengths.result(part.text))
        if text:
            helped = lane.agent.agent_id != ROOT and (voice == "agent" or not lane.was_asked)
            if voice in _ASKS or helped:
                lane.ask(text, at)
            else:
                lane.heard.add(text)
                lane.step("turn", voice or "said", at, text=self._script.lengths.said(text))
        self._pictures(lane, [part for part in parts if part.kind != "result"], at)

    def _requested(self, lane: Lane, told: Told, at: str) -> None:
        """Messages a request holds for the first time: the task, then what a harness put there."""
        if not self._dialect.requests_tell:
            return
        for ix in self._material.placed.get(told.place, ()):
            if not self._see(lane, told.source, ix):
                continue
            role = self._material.roles.get((told.source, ix))
            parts = self._material.parts.get((told.source, "message", ix), [])
            texts = [part.text for part in parts if part.kind in ("text", "result") and part.text]
            if role == "system":
                self._script.left_out["system prompts"] += 1
            elif all(text in lane.heard for text in texts):
                if role == "user":
                    self._pictures(lane, parts, at)
            elif role == "user":
                self._heard(lane, parts, "harness" if lane.was_asked else "person", at)
            else:
                for text in texts:
                    lane.heard.add(text)
                    lane.step("turn", "retold", at, text=self._script.lengths.said(text))

    def _rewrite(self, lane: Lane, told: Told, at: str) -> None:
        """A list that was changed: replies and results it alone tells; the rest it newly says is its own text."""
        for call in self._returned.get(told.place, ()):
            lane.act()
            actions.tell_call(self._script, self._material, lane, call, at)
        listed = self._material.placed.get(told.place, [])
        new = [ix for ix in listed if self._see(lane, told.source, ix)]
        asked_here = self._asked_at.get(told.place, set())
        texts: list[str] = []
        replies: list[list[Part]] = []
        for ix in new:
            parts = self._material.parts.get((told.source, "message", ix), [])
            calls = {part.call_id for part in parts if part.kind == "call"}
            is_reply = self._material.roles.get((told.source, ix)) == "assistant" and (
                bool(calls & asked_here) or (not calls and ix == listed[-1])
            )
            if is_reply and told.kind == "rewrite":
                replies.append(parts)
            else:
                said = [part.text for part in parts if part.kind in ("text", "result") and part.text]
                texts += [text for text in said if text not in lane.heard]
                self._pictures(lane, [part for part in parts if part.kind != "result"], at)
        left = self._material.texts(told.source, "text", told.output_ix)
        self.events.rewritten(lane, told, at, "\n\n".join([*texts, *([left] if left else [])]))
        for parts in replies:
            self._reply(lane, told, parts, at)
        self._unreturned(lane, told, at)

    def _command(self, lane: Lane, told: Told, at: str) -> None:
        """A command that ran; or one a person typed, which is the question when a run begins with it."""
        if told.message_ix is None and told.output_ix is not None:
            actions.tell_command(self._script, self._material, lane, told, at)
            return
        text = self._material.texts(told.source, "message", told.message_ix)
        if told.voice == "person" and text and lane.is_new(told.run):
            lane.enter(told.run, at)
            lane.ask(text, at)
            return
        lane.step(
            "turn", "command", at, name=told.name, by=told.voice,
            text=self._script.lengths.said(text) if text else None,
        )  # fmt: skip

    def _config(self, lane: Lane, told: Told, at: str) -> None:
        if told.place not in self._material.settings:
            name = told.name
            lane.step("policy", told.native or "config", at, name=name)

    def _window(self, lane: Lane, told: Told, at: str) -> None:
        self._requested(lane, told, at)

    def _nothing(self, _lane: Lane, _told: Told, _at: str) -> None:
        """The run itself tells when it begins and ends."""

    # -- parts and calls ----------------------------------------------------------------------------------------

    def _parts(self, told: Told) -> list[Part]:
        parts = self._material.parts
        if told.message_ix is None:
            if told.kind == "extend" and told.output_ix is not None:  # it extends a message that is not there
                return parts.get((told.source, "text", told.output_ix), [])
            return []
        found = parts.get((told.source, "message", told.message_ix), [])
        extended = told.detail.get("extends_ix")
        if type(extended) is int:
            found = found[len(parts.get((told.source, "message", extended), [])) :]
        return found

    def _returned_pictures(self, told: Told) -> Iterable[dict[str, object]]:
        """Pictures that came back with a call: in the message, or named by the entry."""
        images = told.detail.get("images")
        if isinstance(images, list):
            yield from (files.picture(image) for image in images if isinstance(image, dict))
        if told.message_ix is not None:
            yield from files.pictures(part for part in self._parts(told) if part.kind == "result")

    def _pictures(self, lane: Lane, parts: Sequence[Part], at: str) -> None:
        for picture in files.pictures(parts):
            self._script.add("file", at, {**picture, "agent": lane.named}, summary(str(picture["name"])))

    def _unreturned(self, lane: Lane, told: Told, at: str) -> None:
        for call in self._unanswered.get(told.place, ()):
            lane.act()
            actions.tell_call(self._script, self._material, lane, call, at)

    def _calls(self, entries: Sequence[Told]) -> tuple[dict[Place, list[Call]], dict[Place, list[Call]], set[str]]:
        """Calls by the entry of their result, those without one by their own entry, and the ids of the former."""
        known = {told.place for told in entries}
        returned: dict[Place, list[Call]] = {}
        unanswered: dict[Place, list[Call]] = {}
        ids: set[str] = set()
        for call in self._material.calls:
            back = (call.source, call.result_seq) if call.result_seq is not None else None
            if back is not None and back in known:
                returned.setdefault(back, []).append(call)
            elif (call.source, call.seq) in known:
                unanswered.setdefault((call.source, call.seq), []).append(call)
            else:
                continue
            if call.call_id is not None:
                ids.add(call.call_id)
        for calls in returned.values():
            calls.sort(key=lambda call: -1 if call.output_block is None else call.output_block)
        return returned, unanswered, ids

    def _see(self, lane: Lane, source: int, ix: int) -> bool:
        """Whether this agent meets that message for the first time."""
        seen = self._seen.setdefault(lane.agent.agent_id, set())
        new = (source, ix) not in seen
        seen.add((source, ix))
        return new

    def _left_out(self, told: Told) -> str | None:
        words = self._dialect.left_out.get(told.native or "")
        if words is not None and told.native == "cancel_probe" and told.detail.get("canceled") is True:
            return None
        if (
            words is None
            and told.kind in ("clock", "window", "usage", "echo")
            and not self._material.placed.get(told.place)
        ):
            return f"entries of kind {told.kind}"
        return words

    def _lane(self, agent_id: str) -> Lane:
        lane = self._lanes.get(agent_id)
        if lane is None:
            agent = self._material.agents.get(agent_id) or AgentFacts(agent_id)
            is_timed = self._times.note is None
            lane = Lane(self._script, agent, main=self._main, is_timed=is_timed)
            self._lanes[agent_id] = lane
        return lane
