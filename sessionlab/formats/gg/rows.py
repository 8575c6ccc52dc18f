"""Header, seed, agents, bodies and entries of one session in, as typed objects; rows of the common tables out.

Both files of a session, journal and record, are read through here, so that they tell the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import msgspec

from sessionlab.formats._values import detail
from sessionlab.formats.gg.addresses import Verdict, is_address, verify
from sessionlab.formats.gg.agents import AgentTable
from sessionlab.formats.gg.bodies import Bodies
from sessionlab.formats.gg.capabilities import Capabilities
from sessionlab.formats.gg.entries import Entries
from sessionlab.formats.gg.outcomes import outcome
from sessionlab.formats.gg.output import Output
from sessionlab.formats.gg.records import AgentRow, Clip, Entry, Message, Recorder, Seed, Toolset, Truncation
from sessionlab.tables import Config, Session

_string = msgspec.json.Decoder(str).decode


class SessionRows:
    """The rows of one session.

    Attributes:
        out: where they go.
        addresses: how many ids of each pool were found right, wrong or beyond checking, by (pool, verdict), where
            bodies are wanted.
    """

    def __init__(
        self,
        session_id: str,
        routing_key: str | None,
        capability_set: msgspec.Raw,
        recorder: Recorder,
        *,
        bodies: bool,
    ) -> None:
        """A session by its header; no rows yet."""
        self.out = Output(session_id, bodies=bodies)
        self._routing_key, self._recorder = routing_key, recorder
        self._capability_set = bytes(capability_set)
        self._capabilities = Capabilities(capability_set)
        self._agents = AgentTable(self.out, self._capabilities)
        self._entries = Entries(self.out, self._agents)
        self._bodies = Bodies(self.out)
        self.addresses: Counter[tuple[str, Verdict]] = Counter()
        self._ids: dict[str, set[str]] = {"message": set(), "toolset": set()}
        self._texts: set[int] = set()
        self._configs: list[int] = []  # where the configurations stand among the rows

    def seed(self, seed: Seed, unknown: dict[str, object] | None = None) -> None:
        """A seed, which replaces the one before: the configuration from here on."""
        for model, candidates in seed.model_providers.items():
            if isinstance(candidates, str) or any(isinstance(one, str) for one in candidates):
                self.out.note_once("old_providers", model, f"the provider of `{model}` is told as a string")
        self._entries.seed = seed
        self._config(seed, unknown)

    def agent(self, agent: AgentRow, unknown: dict[str, object] | None = None) -> None:
        """A row of an agent."""
        self._agents.told(agent, unknown)

    def message(self, ix: int, message: Message, body: object) -> None:
        """The next message of the pool, and its body as Python objects."""
        self._address("message", ix, message.id)
        if self.out.bodies:
            raw = bytes(message.body)
            self._verify("message", ix, message.id, raw)
            self._bodies.message(ix, message.id, len(raw), body)

    def toolset(self, ix: int, toolset: Toolset, tools: object) -> None:
        """The next toolset of the pool, and its tools as Python objects."""
        self._address("toolset", ix, toolset.id)
        if self.out.bodies:
            raw = bytes(toolset.tools)
            self._verify("toolset", ix, toolset.id, raw)
            self._bodies.toolset(ix, toolset.id, len(raw), tools)

    def text(self, ix: int, raw: msgspec.Raw, clip: Clip | None) -> None:
        """The next text of the pool, with the row that says it was clipped."""
        if clip is None and not self.out.bodies:
            return
        text: str = _string(raw)
        if clip is not None:
            if not is_address(clip.original_id):
                self.out.note("malformed_address", f"the address of the whole of text {ix} is no 32 hex digits")
            if (size := len(text.encode())) > clip.original_bytes:
                self.out.note("impossible_clip", f"text {ix} keeps {size} bytes of {clip.original_bytes}")
        if not self.out.bodies:
            return
        if clip is None:
            digest = hash(text)
            if digest in self._texts:
                self.out.note("repeated_text", f"text {ix} stands in the pool already")
            self._texts.add(digest)
            self._bodies.text(ix, text, None, None)
        else:
            self._bodies.text(ix, text, self.out.whole(clip.original_bytes, "originalBytes"), clip.original_id)

    def entry(self, entry: Entry, free: Any, beside: dict[str, object] | None) -> None:  # noqa: ANN401 (free-form JSON)
        """The next entry of the input log, with its free-form values decoded; ``beside`` joins its detail."""
        self._entries.take(entry, free, beside)

    def unknown(self, members: dict[str, object]) -> None:
        """Members that format version 1 does not know: a note for each, the first time."""
        for path in members:
            self.out.note_once("unknown_member", path, f"`{path}` is no member that format version 1 knows")

    @property
    def entry_count(self) -> int:
        """Entries so far."""
        return self._entries.count

    def finish(self, part: Literal["log", "snapshot"], truncation: Truncation | None) -> None:
        """The rows that speak of the whole: open calls, outcomes, the session."""
        out = self.out
        out.at(None, None, None)
        self._entries.finish()
        if self._entries.seed is None:
            self._config(Seed(prompt=""), None)
        self._settle_configs()
        self._agents.settle()
        out.rows.extend(outcome(out, state) for state in self._agents.states.values())
        if truncation is not None:
            kept = "no entry" if truncation.last_seq is None else f"entries up to seq {truncation.last_seq}"
            out.note(truncation.reason, f"capture stopped early ({truncation.reason}); {kept} can be relied on")
        root = self._agents.root
        out.rows.append(
            Session(
                session_id=out.session_id,
                format="gg",
                native_id=out.native_id,
                part=part,
                entries=self._entries.count,
                model=self._capabilities.root.model,
                state=root.row.terminal_status if root is not None and root.row is not None else None,
                recorder="gg",
                recorder_version=self._recorder.gg_version,
                recorder_commit=self._recorder.commit,
                routing_key=self._routing_key,
                detail=self._detail(truncation),
            )
        )

    def _detail(self, truncation: Truncation | None) -> str | None:
        """Seed and capability set in outline; whole, with the prompt, where bodies are wanted."""
        seed = self._entries.seed or Seed(prompt="")
        return detail(
            baselineCommit=seed.baseline_commit,
            **self._capabilities.outline(),
            modelWindows=seed.model_windows or None,
            modelProviders=seed.model_providers or None,
            modelModalities=seed.model_modalities or None,
            truncation=truncation,
            prompt=seed.prompt if self.out.bodies and self._entries.seed is not None else None,
            capabilitySet=msgspec.Raw(self._capability_set) if self.out.bodies else None,
        )

    def _config(self, seed: Seed, unknown: dict[str, object] | None) -> None:
        """The configuration of the root agent by header and seed."""
        out, root = self.out, self._capabilities.root
        self._configs.append(len(out.rows))
        modalities = seed.model_modalities.get(root.model) if root.model is not None else None
        window = seed.model_windows.get(root.model) if root.model is not None else None
        out.rows.append(
            Config(
                session_id=out.session_id,
                seq=self._entries.count,
                line=out.line,
                model=root.model,
                effort=root.effort,
                max_turns=out.whole(self._capabilities.count("maxTurns"), "maxTurns"),
                max_usd=out.usd(self._capabilities.limit("maxCost"), "maxCost"),
                window_tokens=out.tokens(window, "modelWindows"),
                recorder_version=self._recorder.gg_version,
                detail=detail(
                    vision=modalities.vision if modalities is not None else None,
                    modelModalities=seed.model_modalities or None,
                    modelProviders=seed.model_providers or None,
                    unknown=unknown,
                ),
            )
        )

    def _settle_configs(self) -> None:
        """A configuration told behind the last entry is in force from no entry on: it names the last one."""
        last = max(self._entries.count - 1, 0)
        for at in self._configs:
            config = self.out.rows[at]
            if isinstance(config, Config) and config.seq > last:
                self.out.rows[at] = msgspec.structs.replace(config, seq=last)

    def _address(self, pool: str, ix: int, address: str) -> None:
        if not is_address(address):
            self.out.note("malformed_address", f"the id of {pool} {ix} is no 32 lowercase hex digits: {address!r}")
        seen = self._ids[pool]
        if address in seen:
            self.out.note("repeated_id", f"{pool} {ix} has an id that stands in the pool already")
        seen.add(address)

    def _verify(self, pool: str, ix: int, address: str, raw: bytes) -> None:
        verdict = verify(raw, address, images=pool == "message") if is_address(address) else "mismatch"
        self.addresses[pool, verdict] += 1
        if verdict == "mismatch" and is_address(address):
            self.out.note("address_mismatch", f"the id of {pool} {ix} is not the address of its body")
