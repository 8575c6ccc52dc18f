"""Interrupts, forks, threads, and the end of a capture: the journal stays one account, told in one order."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.systems import gg
from tests.systems.gg.failing import everything, program, stopped_by
from tests.systems.gg.journals import fold, lines_of, of_type, root_of, writer, written
from tests.systems.gg.test_capture_failures import RECORDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USER = {"role": "user", "content": "build it"}


def _interrupted(first: object) -> Iterator[Any]:
    yield first
    raise KeyboardInterrupt


INTERRUPTED: dict[str, Callable[[gg.AgentCapture], object]] = {
    "model_io": lambda root: root.model_io(_interrupted(USER), {}),
    "model_error": lambda root: root.model_error(_interrupted(USER), gg.ModelFailure(kind="parse", message="")),
    "tool_result": lambda root: root.tool_result("c", "look", {}, images=_interrupted(gg.Image("image/png", 1))),  # type: ignore[arg-type]
    "prompt_frame": lambda root: root.prompt_frame(
        _interrupted(gg.WindowItem(USER, slot="thread", source="history", retention="pinned", turn=1))
    ),
}


@pytest.mark.parametrize("call", INTERRUPTED)
def test_an_interrupt_within_a_call(tmp_path: Path, call: str) -> None:
    """Ctrl-C is the run's: it goes on to it; what was half told is left out, and capture has stopped."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    root.clock(elapsed_ms=1)
    with pytest.raises(KeyboardInterrupt):
        INTERRUPTED[call](root)
    everything(recorder, root)
    assert recorder.finish().landed
    assert stopped_by(tmp_path, written(tmp_path), 1)["messages"] == []


def test_interrupts_at_any_moment(tmp_path: Path) -> None:
    """Signals at moments nobody chose: no call hangs, and each journal is the first of what was recorded."""
    code = """
import itertools, random, signal
class Stop(Exception): pass
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stop)
chance = random.Random(20260301)
for number in range(150):
    recorder = writer(f"{sys.argv[1]}/{number}")
    root = root_of(recorder)
    conversation = []
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0001, 0.002))
        for turn in range(60):
            conversation.append({"role": "user", "content": f"turn {turn}"})
            root.model_io(conversation, {"text": str(turn)})
        time.sleep(1)
    except KeyboardInterrupt:
        pass
    recorder.finish()
"""
    done = program(RECORDER + code, tmp_path)
    assert done.returncode == 0, done.stderr
    lengths = Counter[int]()
    for number in range(150):
        data = written(tmp_path / str(number))
        document = fold(tmp_path / str(number), data).document
        entries = document["entries"]
        assert [made["seq"] for made in entries] == list(range(len(entries)))
        assert [made["request"]["messages"] for made in entries] == [list(range(n + 1)) for n in range(len(entries))]
        assert [made["response"]["text"] for made in entries] == [str(n) for n in range(len(entries))]
        lengths[len(entries)] += 1
    assert len(lengths) > 5


def test_a_fork_records_nothing(tmp_path: Path) -> None:
    """A child that goes on recording leaves its parent's journal alone; a writer of its own works, in either."""
    code = """
top = sys.argv[1]
recorder = writer(top + "/parent")
root = root_of(recorder)
root.clock(elapsed_ms=0)
for child in range(3):
    pid = os.fork()
    if pid == 0:
        root.clock(elapsed_ms=1000)
        recorder.agent("a", profile_id="p", profile="P", origin=gg.Root()).end("done")
        told = recorder.finish()
        own = writer(f"{top}/child{child}")
        root_of(own).clock(elapsed_ms=50 + child)
        right = not told.landed and told.truncation is not None and own.finish().landed
        if child == 2 and right:
            sys.exit(0)
        os._exit(0 if right else 3)
    root.clock(elapsed_ms=1 + child)
    assert os.waitpid(pid, 0)[1] == 0
print(json.dumps(recorder.finish()[::2]))
"""
    done = program(RECORDER + code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [4, True]
    for name, told in (("parent", [0, 1, 2, 3]), ("child0", [50]), ("child1", [51]), ("child2", [52])):
        lines = lines_of(written(tmp_path / name))
        assert [made["elapsedMs"] for made in of_type(lines, "entry")] == told
        assert lines[-1] == {"type": "end", "entries": len(told)}


def test_a_fork_says_that_it_records_nothing(tmp_path: Path) -> None:
    """In the child `stopped` tells what `finish` does; in the parent neither has anything to tell."""
    code = """
recorder = writer(sys.argv[1])
pid = os.fork()
if pid == 0:
    stopped = recorder.stopped
    os._exit(0 if stopped is not None and stopped == recorder.finish().truncation else 3)
print(json.dumps([os.waitpid(pid, 0)[1], recorder.stopped, recorder.finish().truncation]))
"""
    done = program(RECORDER + code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [0, None, None]


def test_forks_while_other_threads_record(tmp_path: Path) -> None:
    """A child born while a thread holds the writer's lock can still call it, and comes to its end."""
    code = """
import threading
recorder = writer(sys.argv[1])
root = root_of(recorder)
over = threading.Event()
def record():
    number = 0
    while not over.is_set():
        while recorder._sink._queue.qsize() > 20:
            time.sleep(0.0005)
        root.model_io([{"n": number}], {})
        number += 1
threads = [threading.Thread(target=record) for _ in range(2)]
for thread in threads: thread.start()
for _ in range(30):
    pid = os.fork()
    if pid == 0:
        root.model_io([{"child": True}], {})
        os._exit(0 if not recorder.finish().landed else 3)
    assert os.waitpid(pid, 0)[1] == 0
over.set()
for thread in threads: thread.join()
told = recorder.finish()
print(json.dumps([told.entries, told.truncation, told.landed]))
"""
    done = program(RECORDER + code, tmp_path)
    assert done.returncode == 0, done.stderr
    entries, truncation, landed = json.loads(done.stdout)
    assert (truncation, landed) == (None, True)
    assert entries > 0
    assert len(fold(tmp_path, written(tmp_path)).document["entries"]) == entries
    assert b"child" not in written(tmp_path)


def _play(recorder: gg.JournalWriter, name: int, turns: int) -> None:
    """One agent of several: bodies that all of them send, and its own."""
    origin = gg.Spawn(parent="root", ordinal=name)
    agent = recorder.agent(f"agent-{name}", profile_id="root", profile="Root", origin=origin)
    sent: list[Any] = []
    for turn in range(turns):
        while recorder._sink._queue.qsize() > 32:
            sleep(0.0005)
        sent += [{"shared": turn}, recorder.message({"own": [name, turn]})]
        agent.model_io(sent, {"text": f"{name} {turn}"}, tools=[{"name": f"tool {turn % 3}"}])
        agent.shell(f"ls {turn}", stdout=f"all {turn}", stderr=f"{name} {turn}")
    agent.end("done")


def test_eight_threads(tmp_path: Path) -> None:
    """Eight agents on eight threads: one count of entries, pools without a gap, each entry naming what it sent."""
    recorder = writer(tmp_path)
    threads = [threading.Thread(target=_play, args=(recorder, name, 25)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = recorder.finish()
    assert (told.entries, told.truncation, told.landed) == (8 * 25 * 2, None, True)
    lines = lines_of(written(tmp_path))
    for kind, size in (("message", 25 + 8 * 25), ("toolset", 3), ("text", 25 + 8 * 25)):
        assert [line["index"] for line in of_type(lines, kind)] == list(range(size))
    document = fold(tmp_path, written(tmp_path)).document
    assert [made["seq"] for made in document["entries"]] == list(range(400))
    turns = Counter[str]()
    bodies, texts = [made["body"] for made in document["messages"]], document["texts"]
    for made in document["entries"]:
        name = int(made["agentId"].removeprefix("agent-"))
        turn, is_command = divmod(turns[made["agentId"]], 2)
        turns[made["agentId"]] += 1
        if is_command:
            streams = (made["command"]["stdout"], made["command"]["stderr"])
            assert tuple(texts[index] for index in streams) == (f"all {turn}", f"{name} {turn}")
        else:
            sent = [body for n in range(turn + 1) for body in ({"shared": n}, {"own": [name, n]})]
            assert [bodies[index] for index in made["request"]["messages"]] == sent
    assert [row["terminalStatus"] for row in document["agents"]] == ["done"] * 8


def test_the_end_among_other_threads(tmp_path: Path) -> None:
    """A capture that is finished while threads still record ends with its end line, which counts right."""
    recorder = writer(tmp_path)
    threads = [threading.Thread(target=_play, args=(recorder, name, 400)) for name in range(4)]
    for thread in threads:
        thread.start()
    sleep(0.03)
    told = recorder.finish()
    for thread in threads:
        thread.join()
    assert told.landed
    assert recorder.finish() == told
    lines = lines_of(written(tmp_path))
    assert lines[-1] == {"type": "end", "entries": told.entries}
    assert len(of_type(lines, "entry")) == told.entries


def test_finished_from_several_threads(tmp_path: Path) -> None:
    """All of them are told the same, and one end line is written."""
    recorder = writer(tmp_path)
    root_of(recorder).clock(elapsed_ms=1)
    together = threading.Barrier(4)
    told: list[gg.Captured] = []

    def finish() -> None:
        together.wait()
        told.append(recorder.finish())

    threads = [threading.Thread(target=finish) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [(1, None, True)] * 4
    assert written(tmp_path).count(b'"type":"end"') == 1


def test_a_with_block(tmp_path: Path) -> None:
    """The end of the block is the end of the capture; finishing in it as well is no second end."""
    with writer(tmp_path) as recorder:
        root_of(recorder).clock(elapsed_ms=1)
        first = recorder.finish()
    assert recorder.finish() == first == (1, None, True)
    assert [line["type"] for line in lines_of(written(tmp_path))] == ["header", "seed", "agent", "entry", "end"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_in_a_with_block(tmp_path: Path, error: type[BaseException]) -> None:
    """What ends the run is the run's and goes on; the journal has its end line."""

    def play() -> None:
        with writer(tmp_path) as recorder:
            root_of(recorder).clock(elapsed_ms=1)
            raise error

    with pytest.raises(error):
        play()
    assert lines_of(written(tmp_path))[-1] == {"type": "end", "entries": 1}


@pytest.mark.parametrize("short", [0, 1], ids=["fits-to-the-byte", "one-byte-less"])
def test_the_ceiling_to_the_byte(tmp_path: Path, short: int) -> None:
    """The batch that just fits is written; with one byte less it is left out whole, its new text with it."""
    whole, place = tmp_path / "whole", tmp_path / "place"

    def play(folder: Path, **changes: Any) -> gg.Captured:
        recorder = writer(folder, **changes)
        root = root_of(recorder)
        root.shell("first", stdout="é" * 500)
        root.shell("second", stdout="a text of its own")
        return recorder.finish()

    play(whole)
    data = written(whole)
    size = len(data) - len(b'{"type":"end","entries":2}\n')
    told = play(place, max_bytes=size - short)
    if not short:
        assert told == (2, None, True)
        assert written(place) == data
        return
    # left out: the text of the second command and the command itself; its empty stderr stands since the first
    left = sum(len(line) + 1 for line in data.split(b"\n")[-4:-2])
    assert told.truncation == gg.Truncation("byte_ceiling", 0, size - left)
    assert b"a text of its own" not in written(place)
    assert len(lines_of(written(place))) == len(lines_of(data)) - 2
    assert fold(place, written(place)).document["truncation"]["reason"] == "byte_ceiling"
