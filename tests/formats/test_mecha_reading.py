"""What mecha's own tests say about reading a transcript (section 18), the golden sample (20), and a real file."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

import pytest

from sessionlab.formats import mecha
from sessionlab.tables import Block, Config, Entry, Extent, Outcome, Pool, Problem, Session, ToolCall, Usage, Window
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import (
    META,
    call,
    line,
    loaded,
    message,
    of,
    raw,
    read,
    result,
    rewrite,
    said,
    texts,
    tokens,
)

# 18.1 Session reader


def test_header_two_messages_and_armed() -> None:
    """Two messages with their texts, the header's model, both legs of taint."""
    rows = read(
        message("user", "summarise the coast"),
        message("assistant", "done"),
        line(record="taint", private=True, untrusted=True),
    )
    assert texts(rows) == [["summarise the coast"], ["done"]]
    assert of(rows, Session)[0].model == "plover-3"
    assert [(row.private, row.untrusted) for row in of(rows, Entry)][-1] == (True, True)


def test_rewrite_with_an_extra_summary_block() -> None:
    """A rewrite of two messages whose first has a summary block added: both load, the first with the summary."""
    first = said("user", "count the coast", "[Earlier turns were compacted] ten files")
    rows = read(message("user", "count the coast"), rewrite(first, said("assistant", "done")))
    assert texts(rows) == [["count the coast", "[Earlier turns were compacted] ten files"], ["done"]]
    assert [row.kind for row in of(rows, Entry)] == ["other", "message", "compaction"]
    assert [(row.position, row.message_ix) for row in of(rows, Window)] == [(0, 1), (1, 2)]


def test_replaced_state_stays_in_the_file() -> None:
    """A head that a rewrite replaced is no longer in the list, and still among what was recorded."""
    rows = read(
        message("user", "u"),
        message("assistant", "the sum is 74656"),
        rewrite(said("user", "[Earlier turns were compacted] sums"), said("assistant", "done")),
    )
    assert texts(rows) == [["[Earlier turns were compacted] sums"], ["done"]]
    assert "the sum is 74656" in [row.text for row in of(rows, Block)]


def test_configs_in_order() -> None:
    """Two configurations, compaction off and at 1200, in order and with their positions; one message."""
    rows = read(line(record="config"), message("user", "u"), line(record="config", compact_at_tokens=1200))
    assert [(row.compact_at_tokens, row.position) for row in of(rows, Config)] == [(None, 0), (1200, 1)]
    assert not of(read(message("user", "u")), Config)


def test_config_defaults() -> None:
    """A member that is absent has the value the format defines for it (section 4.5)."""
    (config,) = of(read(line(record="config")), Config)
    assert (config.provider, config.model, config.workspace, config.recorder_version) == ("", "", "", "")
    assert (config.permission_mode, config.sandbox, config.max_turns, config.max_usd) == ("ask", "none", 0, None)
    assert json.loads(config.detail or "") == {
        "thinking": False, "cache_prompt": False, "max_tokens": 0, "compact_keep_recent": 0, "trifecta": "block",
        "sandbox_network": False,
    }  # fmt: skip


def test_empty_assistant_message_counts_and_outcome_counters_stay_apart() -> None:
    """Every counter of an outcome in its own column; a message without content is a message; no token figure."""
    counters = {
        "tool_calls": 4, "tool_errors": 2, "tool_denied": 1, "tool_staged": 6, "malformed_tool_args": 3,
        "blocked_sends": 5, "compactions": 7, "turns": 9,
    }  # fmt: skip
    rows = read(message("user", "u"), message("assistant"), line(record="outcome", **counters, taint={"private": True}))
    (outcome,) = of(rows, Outcome)
    assert {name: getattr(outcome, name) for name in counters} == counters
    assert (outcome.private, outcome.untrusted, outcome.exhausted, outcome.usage_complete) == (
        True,
        False,
        False,
        False,
    )
    assert len(loaded(rows)) == 2
    assert not of(rows, Usage)


def test_totals_of_summaries_without_outcomes() -> None:
    """Summaries of 100 and 50 tokens with no outcome between them are two charges: nothing folds away (10.1)."""
    rows = read(
        line(record="summary", usage=tokens(100, 10), turns=2), line(record="summary", usage=tokens(50, 5), turns=1)
    )
    usage = of(rows, Usage)
    assert sum(row.uncached_input_tokens or 0 for row in usage) == 150
    assert sum(row.output_tokens or 0 for row in usage) == 15
    assert sum(row.turns or 0 for row in usage) == 3
    assert len({row.charge_id for row in usage}) == 2


def test_outcome_shares_the_charge_of_its_summary() -> None:
    """Old runs leave summaries only; the outcome of a later run stands in for the latest of them. Nothing was said."""
    rows = read(
        line(record="summary", usage=tokens(100, 10), turns=2),
        line(record="summary", usage=tokens(50, 5), turns=1),
        line(record="outcome", usage=tokens(50, 5), turns=1),
        line(record="outcome", cost_usd=0.25),
    )
    native = META["id"]
    assert [(row.charge_id, row.standing, row.run) for row in of(rows, Usage)] == [
        (f"{native}/1/00000000", "ledger", 1),
        (f"{native}/1.2/00000000", "ledger", 1),
        (f"{native}/1.2/00000000", "stand_in", 1),
        (f"{native}/2/00000000", "stand_in", 2),
    ]
    cost_only = of(rows, Usage)[-1]
    assert (cost_only.recorded_usd, cost_only.output_tokens, cost_only.is_lower_bound) == (0.25, None, True)


def test_charges_of_two_tails_are_apart_and_those_of_a_backup_are_not() -> None:
    """Files of one id share a charge as far as what was said in them is the same, byte for byte."""
    head = [message("user", "go on"), line(record="summary", usage=tokens(100, 10), turns=1)]
    end = line(record="outcome", usage=tokens(100, 10), turns=1)
    asked = message("user", "and this?")
    added = line(record="extend", index=0, blocks=[{"type": "text", "text": "now"}])
    thinned = rewrite(said("user", "go on"))
    charges = [
        [row.charge_id for row in of(read(*head, end, *tail, head[1]), Usage)]
        for tail in ([], [asked], [added], [thinned])
    ]
    alone = [row.charge_id for row in of(read(*head), Usage)]
    first = f"{zlib.crc32(head[0]):08x}"
    assert alone == [f"{META['id']}/1/{first}"]
    assert all(found[:2] == alone * 2 for found in charges)
    assert [found[2].rpartition("/")[2] for found in charges] == [
        first, *(f"{zlib.crc32(head[0] + tail):08x}" for tail in (asked, added, thinned))
    ]  # fmt: skip


# 18.2 Added later


def test_last_title_wins_whatever_its_prefix() -> None:
    """The last title record decides; the created title stays beside it (sections 8.5, 22)."""
    rows = read(
        line(record="title", title="web: A"),
        line(record="title", title="B"),
        header={**META, "title": "web: chat-8f3a"},
    )
    (session,) = of(rows, Session)
    assert (session.title, session.created_title) == ("B", "web: chat-8f3a")


def test_newer_build_keeps_the_blocks_that_can_be_read() -> None:
    """A rewrite with an unknown block has one message with one block; a call beside one is paired with its result."""
    hum = {"type": "hum", "pitch": 440}
    rows = read(
        rewrite(said("user", "a", hum)),
        message("assistant", hum, call("c1")),
        message("user", result("c1", "out")),
        message("assistant", hum),
    )
    known = [(row.ix, row.kind) for row in of(rows, Block) if row.kind != "extra"]
    assert known == [(0, "text"), (1, "call"), (2, "result")]
    assert [row.text for row in of(rows, Block) if row.kind == "extra"] == ['{"type":"hum","pitch":440}'] * 2
    assert [(row.call_id, row.status, row.output_ix) for row in of(rows, ToolCall)] == [("c1", "ok", 2)]
    assert [(row.kind, row.line) for row in of(rows, Problem)] == [
        ("dropped_blocks", 2), ("dropped_blocks", 3), ("unreadable_line", 5),
    ]  # fmt: skip


def test_extend_of_the_last_message() -> None:
    """Its content has two blocks, and the union holds it as it was and as it became (sections 18.2, 22)."""
    rows = read(message("user", "a"), line(record="extend", index=0, blocks=[{"type": "text", "text": "b"}]))
    assert texts(rows) == [["a", "b"]]
    blocks = of(rows, Block)
    assert [(row.ix, row.block, row.text) for row in blocks] == [(0, 0, "a"), (1, 0, "a"), (1, 1, "b")]
    assert [(row.seq, row.position, row.message_ix) for row in of(rows, Window)] == [(2, 0, 1)]


def test_extended_message_is_the_one_a_rewrite_repeats() -> None:
    """What blocks made of a message is equal to the same message told whole (5.4), with or without bodies."""
    lines = (
        message("user", "a", harness=True),
        message("assistant", "c"),
        line(record="extend", index=0, blocks=[{"type": "text", "text": "b"}, result("x", "y")]),
        rewrite(said("user", "a", "b", result("x", "y", is_error=False), harness=True), said("assistant", "c")),
    )
    for bodies in (True, False):
        rows = read(*lines, bodies=bodies)
        assert loaded(rows) == [2, 1]
        assert json.loads(of(rows, Entry)[-1].detail or "")["kept"] == 2
        assert len(of(rows, Window)) == 1


def test_extend_out_of_range_keeps_its_text() -> None:
    """Out of range: no message changes, a note says so, and the blocks stand in a text body (8.2)."""
    rows = read(message("user", "a"), line(record="extend", index=1, blocks=[{"type": "text", "text": "b"}]))
    assert texts(rows) == [["a"]]
    assert not of(rows, Window)
    (body,) = [row for row in of(rows, Block) if row.pool == "text"]
    assert (body.text, of(rows, Entry)[-1].output_ix) == ("b", body.ix)
    assert [row.kind for row in of(rows, Problem)] == ["extend_out_of_range"]


def test_body_of_an_older_message_is_told_in_part() -> None:
    """Blocks added to a message that is no longer held: a body of those blocks alone, which says what it continues."""
    lines = [message("user", "first"), *(message("user", f"{at}" + "x" * (4 << 20)) for at in range(3))]
    rows = read(*lines, line(record="extend", index=0, blocks=[{"type": "text", "text": "late"}]))
    assert [(row.block, row.text) for row in of(rows, Block) if row.ix == 4] == [(1, "late")]
    assert json.loads(of(rows, Pool)[-1].detail or "") == {"continues_ix": 0, "from_block": 1}


# 18.6 Attribution


def test_outcomes_are_attributed_to_the_configuration_in_effect() -> None:
    """Header model first, then the config's, also when that is empty (8.8); the session keeps the header's."""
    rows = read(
        line(record="outcome", tool_calls=4, usage=tokens(1, 2)),
        line(record="config", provider="cliff", model="gull-2"),
        line(record="outcome", tool_calls=6),
        line(record="config"),
        line(record="summary", usage=tokens(3, 4), turns=1),
        line(record="outcome", tool_calls=8),
    )
    assert [(row.run, row.provider, row.model, row.tool_calls) for row in of(rows, Outcome)] == [
        (1, "shore", "plover-3", 4), (2, "cliff", "gull-2", 6), (3, "", "", 8),
    ]  # fmt: skip
    assert [(row.provider, row.standing) for row in of(rows, Usage)] == [("shore", "stand_in"), ("", "ledger")]
    assert of(rows, Session)[0].provider == "shore"


def test_sensors_absent_is_not_zero() -> None:
    """A sensor that was not measured is not there; null counts as absent, unknown ones are kept (4.4)."""
    rows = read(
        line(
            record="outcome", step_nulls=0, checks_passed=None, tide={"m": 2}, goal_anchor={"odd": 1}, duration_secs=3
        ),
        line(record="outcome"),
    )
    first, second = of(rows, Outcome)
    assert json.loads(first.sensors or "") == {"step_nulls": 0, "tide": {"m": 2}, "goal_anchor": {"odd": 1}}
    assert (first.duration_ms, first.goal, second.sensors, second.duration_ms) == (3000, None, None, None)


# 20 Golden sample


def golden() -> bytes:
    """The golden sample's bytes."""
    (path,) = (SAMPLES / "mecha" / "golden").glob("*.jsonl")
    return path.read_bytes()


def test_golden_figures() -> None:
    """The figures of section 20 that rows alone tell."""
    rows = raw(golden())
    (session,) = of(rows, Session)
    assert (len(of(rows, Entry)), len(of(rows, Problem)), len(of(rows, Window))) == (21, 1, 0)
    assert (session.native_id, session.created_title, session.surface) == (
        "20261003T081500-5e1d20aa", "count the birds", "run",
    )  # fmt: skip
    assert (session.title, session.goal, session.entries) == ("bird counts", None, 21)
    assert len(loaded(rows)) == 9
    assert [(row.messages, row.private, row.untrusted) for row in of(rows, Entry) if row.kind == "taint"] == [
        (4, True, False), (8, True, True),
    ]  # fmt: skip
    assert [(row.position, row.effort) for row in of(rows, Config)] == [(0, "high"), (4, "low")]
    assert [(row.name, row.batch, row.external, row.status) for row in of(rows, ToolCall)] == [
        ("fs_list", 0, False, "ok"), ("fs_read", 0, False, "ok"), ("web_fetch", 1, True, "failed"),
    ]  # fmt: skip
    ledger = [row for row in of(rows, Usage) if row.standing == "ledger"]
    figures = ("uncached_input_tokens", "output_tokens", "cache_write_tokens", "cache_read_tokens", "turns")
    assert [sum(getattr(row, name) for row in ledger) for name in figures] == [1500, 125, 1200, 1000, 4]
    assert [row.recorded_usd for row in of(rows, Outcome)] == [0.01425, None]
    assert [row.voice for row in of(rows, Entry) if row.role == "user"] == [
        "person",
        "tool",
        "person",
        "tool",
        "person",
    ]


def test_golden_cut_at_every_byte() -> None:
    """Cut anywhere: nothing is raised, rows of complete lines stay as they are, and every byte is covered."""
    content = golden()
    steady = (Entry, Pool, Block, Window, Config, Outcome, Usage)
    whole = [row for row in raw(content) if isinstance(row, steady)]
    for cut in range(len(content) + 1):
        rows = raw(content[:cut])
        complete = content[:cut].count(b"\n")
        kept = [row for row in rows if isinstance(row, steady) and (row.line or 0) <= complete]
        assert kept == [row for row in whole if (row.line or 0) <= complete]
        assert sum(row.byte_length for row in of(rows, Extent)) == cut


@pytest.mark.corpora
def test_real_transcript(corpora: Path) -> None:
    """A real experiment's transcript is claimed and read to the last byte, and nothing in it is unknown."""
    (path,) = (corpora / "mecha").rglob("*.jsonl")
    content = path.read_bytes()
    assert mecha.sniff(content)
    rows = raw(content)
    assert [(row.byte_offset, row.byte_length, row.fate) for row in of(rows, Extent)] == [(0, len(content), "read")]
    assert not of(rows, Problem)
    plain = [json.loads(each) for each in content.split(b"\n") if each]
    assert [row.native_kind for row in of(rows, Entry)] == [each["record"] for each in plain]
    told = [block for each in plain if each["record"] == "message" for block in each["content"]]
    spoken = {"text": "text", "thinking": "text", "tool_result": "content"}
    wanted = sorted(block[spoken[block["type"]]] for block in told if block["type"] in spoken)
    kinds = {"text", "thinking", "result"}
    assert sorted(row.text or "" for row in of(rows, Block) if row.pool == "message" and row.kind in kinds) == wanted
    ledger = [row for row in of(rows, Usage) if row.standing == "ledger"]
    assert [row.output_tokens for row in ledger] == [
        each["usage"]["output_tokens"] for each in plain if each["record"] == "summary"
    ]


def test_ids_are_the_same_in_every_run() -> None:
    """The id of a line is made of the session's id, the line's number and its checksum, by no secret of the process."""
    import zlib

    content = golden()
    seed = hashlib.blake2b(b"mecha:20261003T081500-5e1d20aa", digest_size=8).digest()
    base = int.from_bytes(seed, "big") & (2**63 - 1)
    expected = [base ^ (number << 32 | zlib.crc32(each)) for number, each in enumerate(content.split(b"\n")[:21], 1)]
    assert [row.record_id for row in of(raw(content), Entry)] == expected
