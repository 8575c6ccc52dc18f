"""A topic and a seeded generator in, plausible words out: prompts, thoughts, tool calls with their results, answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from generator.topics import TOPICS, Topic

if TYPE_CHECKING:
    from random import Random

__all__ = ["HOSTILE", "TOPICS", "Act", "Topic", "act", "answer", "ask", "long_log", "summary", "thought", "title"]

HOSTILE = (
    "label,count\n<script>alert(1)</script>,4\n<img src=x onerror=alert('moth')>,2\n",
    (
        "\x1b[31mERROR\x1b[0m bad row \x1b[1m17\x1b[0m\n\u200fabc\u202edef <b onmouseover=alert(2)>bold</b>\n"
        "{{7*7}} ${jndi}\n"
    ),
)
"""Text from outside that means harm where it is shown as markup, or sent to a terminal; here it is only data."""

_WEIGHTS = {"read": 9, "search": 5, "list": 3, "shell": 6, "test": 5, "edit": 6, "write": 3}
_COMMANDS = (
    "wc -l {path}",
    "sort -u {path} | tail -{n}",
    "git diff --stat {path}",
    "python tools/show.py {path} --row {n}",
    "head -{n} {path}",
)
_OPENINGS = (
    "Let me look at {file} first.",
    "I start with {file}.",
    "The {thing} should be in {file}.",
    "Next the {thing} in {file}.",
    "To see why, I read {file}.",
    "Checking {file} against the {thing}.",
)
_THOUGHTS = (
    "The {thing} in {file} does not agree with the rest; row {n} is the first that differs.",
    "Two readings are possible: the {thing} is wrong, or {file} is older than it says. A test decides it.",
    "I should not touch {file} before I know what the {thing} looks like on a normal day.",
    "There are about {n} of them. A loop is enough, no need for a library.",
    "The error names line {n}, but the cause is probably the {thing} a few lines above.",
    "If {file} is right then {n} is too many. Count again with the duplicates left out.",
)
_AFTER_FAILURE = (
    "That call failed and I could not finish: {fact} is as far as I came.",
    "I stop here: the last command still fails. What is known: {fact}.",
    "Not done. {fact}, but the change in {file} could not be checked.",
)
_ANSWERS = (
    "Done. {fact}; the {thing} in {file} now agrees.",
    "{fact}. I changed {file} in one place and the checks pass.",
    "It was the {thing}: {fact}. {file} is corrected.",
    "Finished: {fact}, {n} rows looked at, nothing else changed.",
)
_FAILURES = (
    ("read", "no such file: {path}"),
    ("read", "{path}: not valid UTF-8 at byte {n}"),
    ("list", "no such directory: {path}"),
    ("search", "search timed out after 20 s in {path}"),
    ("shell", "Traceback (most recent call last):\n  File \"{path}\", line {n}, in <module>\nKeyError: '{thing}'"),
    ("shell", "{path}:{n}: command not found: csvkit"),
    ("test", "FAILED tests/test_{stem}.py::test_row_{n} - AssertionError: {n} != {m}\n1 failed, {m} passed in 0.{n}s"),
    ("edit", "the text to replace was not found in {path}"),
    ("write", "refusing to write {path}: the folder is read-only"),
    ("fetch", "timeout after 10 s: {url}"),
    ("fetch", "HTTP 503 from {url}"),
)


class Act(NamedTuple):
    """One tool call and what came of it. ``subject`` is a path, a pattern, a command line or an address, by kind."""

    kind: str
    subject: str
    content: str
    output: str
    failed: bool

    @property
    def external(self) -> bool:
        """Whether the result comes from outside the machine."""
        return self.kind == "fetch"


def ask(rng: Random, topic: Topic) -> str:
    """What a person wants."""
    return _fill(rng, topic, rng.choice(topic.asks))


def title(topic: Topic, prompt: str) -> str:
    """A name for the session: the opening words of the prompt on one line."""
    line = " ".join(prompt.split()) or topic.name
    return line if len(line) <= 60 else line[:60].rstrip() + "…"


def thought(rng: Random, topic: Topic) -> str:
    """What the model thinks before it acts."""
    return " ".join(_fill(rng, topic, line) for line in rng.sample(_THOUGHTS, rng.randint(1, 2)))


def opening(rng: Random, topic: Topic) -> str:
    """What the model says before it acts."""
    return _fill(rng, topic, rng.choice(_OPENINGS))


def answer(rng: Random, topic: Topic, *, failed: bool = False) -> str:
    """What the model says in the end."""
    return _fill(rng, topic, rng.choice(_AFTER_FAILURE if failed else _ANSWERS))


def summary(rng: Random, topic: Topic) -> str:
    """What is kept of a conversation that was summarised."""
    facts = "; ".join(_fill(rng, topic, fact) for fact in rng.sample(topic.facts, 2))
    return f"Work on {topic.name}. So far: {facts}. Looked at {', '.join(topic.files[:3])}. Open: the checks."


def act(rng: Random, topic: Topic, *, failed: bool = False, kind: str | None = None) -> Act:
    """A tool call of ``kind`` (read, list, search, shell, test, edit, write, fetch; any but fetch if not given)."""
    if kind is None:
        kind = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    path = rng.choice(topic.files)
    subject = _subject(rng, topic, kind, path)
    if failed:
        words = rng.choice([text for told, text in _FAILURES if told == kind])
        shown = subject if kind in {"list", "fetch"} else path
        return Act(kind, subject, _content(rng, topic, kind), _fill(rng, topic, words, path=shown, url=shown), failed)
    return Act(kind, subject, _content(rng, topic, kind), _output(rng, topic, kind, path), failed)


def long_log(rng: Random, topic: Topic, size: int) -> str:
    """A build log of at least ``size`` bytes."""
    lines: list[str] = []
    length = 0
    while length < size:
        line = f"[{len(lines):05d}] {_fill(rng, topic, '{thing} {n} of {m}: read {path}, kept {n}')}"
        lines.append(line)
        length += len(line.encode()) + 1
    return "\n".join(lines) + "\n"


def _subject(rng: Random, topic: Topic, kind: str, path: str) -> str:
    if kind == "search":
        return rng.choice(topic.things)
    if kind == "list":
        return path.rpartition("/")[0] or "."
    if kind == "test":
        return rng.choice((topic.test, f"{topic.test} -k {topic.name}_{rng.randint(1, 30)}"))
    if kind == "shell":
        return _fill(rng, topic, rng.choice(_COMMANDS), path=path)
    if kind == "fetch":
        return f"https://{topic.host}/{rng.choice(topic.things).replace(' ', '-')}/{rng.randint(1, 400)}"
    return path


def _content(rng: Random, topic: Topic, kind: str) -> str:
    """What is written or put in: for calls that change a file."""
    if kind not in {"edit", "write"}:
        return ""
    n, m = rng.randint(2, 60), rng.randint(61, 900)
    kept = f"    return [line for line in lines if len(line) < {m}]\n"
    return f"# {rng.choice(topic.things)}\nLIMIT = {n}\n\n\ndef rows(lines):\n{kept}"


def _output(rng: Random, topic: Topic, kind: str, path: str) -> str:
    if kind == "read":
        return _table(rng, topic, rng.randint(4, 14))
    if kind == "list":
        names = sorted({file.rpartition("/")[2] for file in topic.files} | {f"old-{rng.randint(1, 99)}.bak"})
        return "\n".join(names)
    if kind == "search":
        return "\n".join(
            f"{rng.choice(topic.files)}:{rng.randint(1, 300)}: {rng.choice(topic.things)}" for _ in range(3)
        )
    if kind == "test":
        return f"{rng.randint(8, 90)} passed in {rng.randint(1, 9)}.{rng.randint(10, 99)}s"
    if kind == "shell":
        return _fill(
            rng, topic, rng.choice(("{n} {path}", "{thing}\n{n}\n{m}", " 1 file changed, {n} insertions(+)")), path=path
        )
    if kind == "fetch":
        return f"{topic.host}: {_fill(rng, topic, rng.choice(topic.facts))}\n" + _table(rng, topic, 4)
    return f"wrote {rng.randint(120, 4800)} bytes to {path}"


def _table(rng: Random, topic: Topic, rows: int) -> str:
    head = "day,place,count"
    body = (
        f"2026-{rng.randint(3, 11):02d}-{rng.randint(1, 28):02d},{rng.choice(topic.places)},{rng.randint(0, 400)}"
        for _ in range(rows)
    )
    return "\n".join((head, *body))


def _fill(rng: Random, topic: Topic, text: str, *, path: str | None = None, url: str | None = None) -> str:
    """The text with its places filled: every value is drawn, used or not, so that wording never moves the dice."""
    file = rng.choice(topic.files)
    thing, fact = rng.choice(topic.things), rng.choice(topic.facts)
    numbers = {"n": rng.randint(2, 89), "m": rng.randint(90, 400)}
    fact = fact.format(place=rng.choice(topic.places), **numbers)
    return text.format(
        file=file,
        path=path or file,
        stem=topic.name,
        thing=thing,
        fact=fact,
        place=rng.choice(topic.places),
        url=url or f"https://{topic.host}/",
        **numbers,
    )
