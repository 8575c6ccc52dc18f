"""Which tools a replay offers and what of a run is rebuilt, against mecha 12.5, 12.6 and 18.5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import ReplayRefused
from sessionlab.replay import rebuilding
from sessionlab.replay.scripted import Scripted
from sessionlab.replay.surface import Rights, Tool, build
from sessionlab.systems.mecha.surfaces import SurfaceStore, ToolDefinition
from tests.formats.mecha_lines import line, message, result
from tests.replay.sessions_to_replay import CONFIG, NAMES, TODAY, planned, transcript, write
from tests.replay.test_driver import ONE_CALL

SAVED = ToolDefinition("fs_read", "as it was then", {"type": "object", "properties": {"path": {"type": "string"}}})


class TestSurface:
    """Which words a tool is offered with, and which rights it has (12.5)."""

    @pytest.mark.parametrize("mode", ["stop", "error"])
    def test_a_display_only_tool_is_described_in_stop_and_error(self, mode: Any) -> None:
        """18.5: display-only tool: allowed in stop and error, described but never executed."""
        offered = build(["ask_user"], mode=mode)["ask_user"]
        assert (offered.origin, offered.tool, bool(offered.definition.description)) == ("display", None, True)

    def test_a_display_only_tool_is_refused_in_live(self) -> None:
        """18.5: refused in live."""
        with pytest.raises(ReplayRefused, match="'ask_user'"):
            build(["ask_user"], mode="live")

    def test_a_display_only_tool_is_refused_when_none_is_offered(self) -> None:
        """18.5: refused when none is offered."""
        with pytest.raises(ReplayRefused, match="'ask_user'"):
            build(["ask_user"], mode="stop", display=())

    def test_a_tool_rebuilt_from_its_saved_definition_works_in_stop(self) -> None:
        """18.5: works in stop: private stays, send dropped."""
        offered = build(["fs_read"], mode="stop", saved=[SAVED])["fs_read"]
        assert (offered.definition, offered.origin) == (SAVED, "saved")
        assert offered.rights == Rights(private=True, untrusted=True, send=False)

    def test_a_tool_rebuilt_from_its_saved_definition_is_refused_in_live(self) -> None:
        """18.5: refused in live."""
        with pytest.raises(ReplayRefused, match="live needs a tool that can be called"):
            build(["fs_read"], mode="live", saved=[SAVED])

    @pytest.mark.parametrize(
        ("mode", "words"), [("stop", "as it was then"), ("error", "as it was then"), ("live", "now")]
    )
    def test_saved_words_win_over_todays_in_stop_only(self, mode: Any, words: str) -> None:
        """18.5: saved words win over today's in stop (and error) only; rights are today's throughout."""
        today = Tool("fs_read", "now", run=lambda _: "x", private=False, untrusted=True)
        offered = build(["fs_read"], mode=mode, today=[today], saved=[SAVED])["fs_read"]
        assert (offered.definition.description, offered.rights.private, offered.rights.untrusted) == (
            words,
            False,
            True,
        )

    @pytest.mark.parametrize(("mode", "sends"), [("stop", False), ("error", False), ("live", True)])
    def test_send_is_dropped_in_stop_and_error_and_kept_in_live_and_private_is_kept_in_all(
        self, mode: Any, sends: bool
    ) -> None:
        """18.5: send capability dropped in stop/error, kept in live; private kept in all."""
        today = Tool("mail", run=lambda _: "x", private=True, send=True)
        rights = build(["mail"], mode=mode, today=[today])["mail"].rights
        assert (rights.send, rights.private) == (sends, True)

    def test_a_tool_that_is_only_described_is_none_in_live(self) -> None:
        """Live calls tools, so it needs ones that can be called."""
        with pytest.raises(ReplayRefused, match="one that is only described"):
            build(["fs_read"], mode="live", today=[Tool("fs_read")])

    def test_the_surface_keeps_the_recorded_order_and_offers_nothing_else(self) -> None:
        """Only recorded names are offered, in registry order."""
        assert list(build(["web_fetch", "fs_read"], mode="stop", today=TODAY)) == ["web_fetch", "fs_read"]

    def test_fidelity_is_of_the_surface_really_built(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """12.5: matches by the saved definitions, differs by others, unknown without a recorded fingerprint."""
        monkeypatch.setenv("MECHA_HOME", str(tmp_path))
        store = SurfaceStore()
        kept = store.save([SAVED])
        model = Scripted([])
        recording = transcript(tmp_path, *ONE_CALL, tools=["fs_read"], tools_hash=kept)
        assert planned(recording, model, surfaces=store).fidelity == "matches"
        assert planned(recording, model, surfaces=store, tools=()).fidelity == "matches"
        assert planned(recording, model).fidelity == "differs"
        assert planned(transcript(tmp_path, *ONE_CALL), model).fidelity == "unknown"


class TestRebuilding:
    """What comes from the first configuration, and what does not (12.5, 12.6)."""

    def test_the_first_config_is_used_and_a_note_says_how_many_there_are(self, tmp_path: Path) -> None:
        """12.5: several configs: the first, with a note."""
        second = line(**{**CONFIG, "system_prompt": "Be long.", "effort": "max"})
        plan = planned(transcript(tmp_path, *ONE_CALL, second), Scripted([]))
        assert (plan.settings.system_prompt, plan.settings.effort) == ("Be brief.", "low")
        assert any("2 config records" in note for note in plan.notes)

    def test_the_sampler_and_the_policies_are_todays(self, tmp_path: Path) -> None:
        """12.5: not restored: permission mode, trifecta, sandbox, temperature, seed."""
        plan = planned(transcript(tmp_path, *ONE_CALL), Scripted([]))
        assert (plan.config.temperature, plan.config.permission_mode, plan.config.trifecta) == (0.5, "allow", "allow")
        assert (plan.settings.temperature, plan.settings.seed) == (None, None)
        assert (plan.setup.permission_mode, plan.setup.trifecta) == ("ask", "block")

    def test_what_shapes_a_request_is_restored(self, tmp_path: Path) -> None:
        """12.5: system prompt, tools, effort, thinking, cache_prompt, max_tokens."""
        plan = planned(transcript(tmp_path, *ONE_CALL, thinking=True, cache_prompt=True, effort="xhigh"), Scripted([]))
        told = plan.settings
        assert (told.effort, told.thinking, told.cache_prompt, told.max_tokens) == ("xhigh", True, True, 900)
        assert [one.name for one in plan.definitions] == list(NAMES)

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({}, ("shore", "plover-3")),
            ({"model": "tern-1"}, ("shore", "tern-1")),
            ({"provider": "dune"}, ("dune", "the-dunes-own")),
            ({"provider": "dune", "model": "tern-1"}, ("dune", "tern-1")),
            ({"provider": "shore"}, ("shore", "plover-3")),
        ],
    )
    def test_provider_and_model_are_the_recorded_ones_unless_another_is_named(
        self, tmp_path: Path, asked: dict[str, str], expected: tuple[str, str]
    ) -> None:
        """12.5: -p, -m; another provider has its own default, since the recorded name means nothing to it."""
        found = rebuilding.chosen(transcript(tmp_path, *ONE_CALL), **asked, default_model="the-dunes-own")
        assert found == expected

    def test_another_provider_without_a_default_model_is_refused(self, tmp_path: Path) -> None:
        """No name is left to ask for."""
        with pytest.raises(ReplayRefused, match="name one with -m"):
            rebuilding.chosen(transcript(tmp_path, *ONE_CALL), provider="dune")

    def test_a_session_without_config_is_refused(self, tmp_path: Path) -> None:
        """12.6: no config record: the run cannot be rebuilt."""
        from sessionlab.systems.mecha.reading import load

        recording = load(write(tmp_path / "t.jsonl", *ONE_CALL, config={}))
        with pytest.raises(ReplayRefused, match="no config record") as refused:
            planned(recording, Scripted([]))
        assert refused.value.kind == "no_config"

    def test_a_session_without_user_turns_is_refused(self, tmp_path: Path) -> None:
        """12.6: nothing to replay."""
        with pytest.raises(ReplayRefused, match="nothing to replay"):
            planned(transcript(tmp_path, message("assistant", "Hello?")), Scripted([]))

    @pytest.mark.parametrize("word", ["passed", "failed", "refused"])
    def test_plan_checks_are_unsupported(self, tmp_path: Path, word: str) -> None:
        """12.6: a recording that dispatched plan checks: an explicit unsupported result."""
        checked = message("assistant", "Done.", planning={"steps": [{"step": "look", "verification": word}]})
        with pytest.raises(ReplayRefused, match="unsupported") as refused:
            planned(transcript(tmp_path, ONE_CALL[0], checked), Scripted([]))
        assert refused.value.kind == "plan_checks"

    def test_declared_checks_are_unsupported(self, tmp_path: Path) -> None:
        """12.6: outcome.checks_declared > 0 is a sign, too."""
        with pytest.raises(ReplayRefused, match="unsupported"):
            planned(transcript(tmp_path, *ONE_CALL, line(record="outcome", checks_declared=1)), Scripted([]))

    def test_a_missing_workspace_is_a_note_and_an_empty_scratch_directory(self, tmp_path: Path) -> None:
        """12.5: workspace missing on disk: a note; an empty scratch directory, gone afterwards."""
        config = transcript(tmp_path, *ONE_CALL).configs[0]
        with rebuilding.workspace(config) as (folder, note):
            assert note is not None
            assert "/nowhere/shore is not on this disk" in note
            assert list(folder.iterdir()) == []
        assert not folder.exists()

    def test_a_workspace_that_is_there_is_used_as_it_is(self, tmp_path: Path) -> None:
        """Nothing is said of a workspace that is there, and it stays."""
        config = transcript(tmp_path, *ONE_CALL, workspace=str(tmp_path)).configs[0]
        with rebuilding.workspace(config) as found:
            assert found == (tmp_path, None)
        assert tmp_path.exists()

    def test_an_unpinned_sampler_is_said_of_a_model_that_samples(self, tmp_path: Path) -> None:
        """A replay of an unpinned sampler is a sample; one that is pinned, or scripted, says nothing of it."""

        class Sampling(Scripted):
            sampled = True

        recording = transcript(tmp_path, *ONE_CALL)
        said_of = [
            any("sampler of this replay" in note for note in planned(recording, model, **pinned).notes)
            for model, pinned in (
                (Sampling([]), {}),
                (Sampling([]), {"temperature": 0.7}),
                (Sampling([]), {"temperature": 0.7, "seed": 1}),
                (Sampling([]), {"temperature": 0.0}),
                (Scripted([]), {}),
            )
        ]
        assert said_of == [True, True, False, False, False]

    def test_steering_is_a_note(self, tmp_path: Path) -> None:
        """12.6: steering cannot be re-injected."""
        steered = message("user", result("c1", "plover"), "and only adults")
        plan = planned(transcript(tmp_path, *ONE_CALL[:2], steered), Scripted([]))
        assert any("steering cannot be re-injected" in note for note in plan.notes)
