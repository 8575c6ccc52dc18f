"""What one agent was asked, said and did in; its runs, turns and outputs, or one step where it is a helper, out.

Of the agent a record is about, a request worked to its end is `run`, then `turn`, then `output`. Words of the model
are `step` entries until the run, or the next question, shows that they were the answer: what stands behind the last
call. A helper's work is one `step` of kind `run`: `input` its task, `output` its answer.
"""

from __future__ import annotations

from sessionlab.systems.datalayer.mapping.lengths import summary
from sessionlab.systems.datalayer.mapping.material import AgentFacts, Outcome
from sessionlab.systems.datalayer.mapping.script import Draft, Payload, Script
from sessionlab.systems.datalayer.mapping.times import stamp

NO_ANSWER = "no answer is recorded"
_STOPPED = {"cut_short": "cut short", "interrupted": "interrupted", "failed": "failed"}
_STATUS_OF_AGENT = {"done": "completed", "failed": "failed"}
_NOT_BEGUN = object()


class Lane:
    """One agent's part of a record.

    Attributes:
        agent: whose it is.
        is_main: the record is about this agent.
        heard: texts told so far: a request that repeats one tells nothing new.
        was_asked: a question was put to it at some time.
    """

    def __init__(self, script: Script, agent: AgentFacts, *, main: str, is_timed: bool) -> None:
        """``main``: the agent the record is about; ``is_timed``: times were recorded."""
        self.agent, self.is_main, self.heard = agent, agent.agent_id == main, set[str]()
        self._main = main
        self.was_asked = False
        self._script, self._is_timed = script, is_timed
        self._run: object = _NOT_BEGUN
        self._open = False
        self._ever: set[object] = set()
        self._asked: list[str] | None = None
        self._replied = False  # since the last question: words or calls of the model
        self._candidates: list[tuple[Draft, str]] = []
        self._stop: str | None = None
        self._error: str | None = None
        self._began: str = ""
        self._latest: str = ""
        self._shown = False

    # -- what is heard of it ------------------------------------------------------------------------------------

    def is_new(self, run: int | None) -> bool:
        """Whether nothing of that run was told yet."""
        return run not in self._ever

    def enter(self, run: int | None, at: str) -> None:
        """What follows belongs to that run."""
        self._began = self._began or at
        self._latest = at
        if self._open and run == self._run:
            return
        self._run, self._open = run, True
        self._ever.add(run)
        if self.is_main:
            self._script.add("run", at, {})

    def ask(self, text: str, at: str) -> None:
        """A person's question, or the task of a helper."""
        self.heard.add(text)
        self.was_asked = True
        if self._candidates:
            self._flush(self._candidates[-1][0].at, None)
        if self._asked is None:
            self._asked, self._replied = [text], False
        elif not self._replied:
            self._asked.append(text)
        else:
            self.step("turn", "steered", at, text=self._script.lengths.said(text))

    def say(self, text: str, at: str, stop_reason: str | None = None) -> None:
        """Words of the model."""
        self.heard.add(text)
        self._replied = True
        self._stop = None  # what was cut short is taken up again
        draft = self.step("turn", "said", at, text=text, stop_reason=stop_reason)
        self._candidates.append((draft, text))

    def act(self) -> None:
        """A call: what was said before it was not the answer."""
        self._replied = True
        for draft, text in self._candidates:
            draft.payload["text"] = self._script.lengths.said(text)
        self._candidates.clear()

    def stop(self, why: str) -> None:
        """Somebody or something cut the answer short."""
        self._stop = why

    def fail(self, why: str | None) -> None:
        """A model call failed; it may be tried again."""
        self._error = why or self._error

    def step(self, event: str, what: str, at: str, **more: object) -> Draft:
        """An event of this agent."""
        return self._script.step(event, what, at, agent=self.named, **more)

    @property
    def named(self) -> str | None:
        """Its name in entries: None where the record is about it."""
        return None if self.is_main else self.agent.agent_id

    # -- how it ends --------------------------------------------------------------------------------------------

    def close(self, outcome: Outcome | None, at: str, *, is_last: bool) -> None:
        """The open run is over as far as anything tells."""
        if not self._open:
            return
        self._open = False
        if outcome is not None:
            stop_class, ended = outcome.stop_class, outcome.is_told
        else:
            stop_class = _STATUS_OF_AGENT.get(self.agent.status or "")
            ended = stop_class is not None
        if stop_class == "completed":
            self._stop = None  # what was cut short in between was taken up again
        answered = bool(self._candidates)
        if self.is_main and is_last and not ended and not answered:
            self._running()
            return
        reason = self._reason(stop_class, outcome)
        if reason is None and not answered and stop_class != "completed":
            reason = self._stop or NO_ANSWER
        if self.is_main and stop_class == "cut_short":
            self._limit(outcome, at)
        if not ended and answered:
            at = self._candidates[-1][0].at  # nothing but the answer tells when it was over
        length = self._flush(at, reason)
        if self.is_main and (ended or answered):
            ended_at = outcome.ended_at if outcome is not None else None
            self._script.add(
                "output", at,
                {
                    "status": "answered" if reason is None else "stopped",
                    "ended_at": stamp(ended_at) if ended_at is not None else at if self._is_timed else None,
                    "error": reason if stop_class == "failed" else None,
                    "length": length if reason is None else None,
                },
                summary("answered" if reason is None else "stopped", reason),
            )  # fmt: skip
        self._stop = self._error = None

    def finish(self, at: str) -> None:
        """Nothing more comes: a helper of which nothing was told is told now."""
        if not self.is_main and not self._shown:
            self._helper(at, "", "", _STOPPED.get(_STATUS_OF_AGENT.get(self.agent.status or "", "")))

    def _reason(self, stop_class: str | None, outcome: Outcome | None) -> str | None:
        """Why the run was stopped; None: it was not."""
        cause = outcome.stop_cause if outcome is not None else None
        if stop_class == "cut_short":
            return self.agent.limit_hit or cause or _STOPPED[stop_class]
        if stop_class == "failed":
            return self._error or cause or _STOPPED[stop_class]
        if stop_class == "interrupted":
            return self._stop or _STOPPED[stop_class]
        return None if stop_class == "completed" else self._stop

    def _running(self) -> None:
        self.act()
        if self._asked is not None:
            self._script.notes.append(
                "the last turn was still running: its question is left out, its run and its calls stay"
            )
        self._asked = None

    def _flush(self, at: str, reason: str | None) -> int:
        """Tell the open question with its answer; gives the length of the answer."""
        reason = reason or self._stop
        answer = "\n\n".join(text for _, text in self._candidates)
        for draft, _ in self._candidates:
            draft.dropped = True
        asked = "\n\n".join(self._asked) if self._asked is not None else ""
        told = self._asked is not None or bool(answer)
        self._candidates.clear()
        self._asked, self._replied, self._stop = None, False, None
        if not self.is_main:
            self._helper(at, asked, answer, reason)
        elif told:
            if reason is not None:
                answer = f"Stopped: {reason}" + (f"\n\n{answer}" if answer else "")
            lengths = self._script.lengths
            payload: Payload = {"asked": lengths.said(asked), "answered": lengths.said(answer), "suggest_tests": False}
            self._script.add("turn", at, payload, summary(asked) or summary(answer))
        return len(answer)

    def _helper(self, at: str, asked: str, answer: str, reason: str | None) -> None:
        said, agent = self._script.lengths.said, self.agent
        parent = agent.parent if agent.parent is not None and agent.parent != self._main else ""
        self._shown = True
        self._script.add(
            "step", at,
            {
                "id": agent.agent_id, "name": agent.name, "kind": "run", "parent_id": parent,
                "input": said(asked), "output": said(answer), "error": reason or "",
                "started_at": self._began if self._is_timed else "", "ended_at": self._latest if self._is_timed else "",
            },
            summary(agent.name, asked or answer),
        )  # fmt: skip

    def _limit(self, outcome: Outcome | None, at: str) -> None:
        """A budget shows as a decision that names the limit."""
        agent = self.agent
        name = agent.limit_hit or (outcome.stop_cause if outcome is not None else None) or "limit"
        self._script.add(
            "decision", at,
            {
                "behaviour": "refused", "because": f"shield_limit:{name}", "classes": [], "limit": name,
                "threshold": agent.limit_threshold, "count": agent.limit_observed,
            },
            summary("limit", name),
        )  # fmt: skip
