"""A second reading of the redaction rules: it goes through a text character by character, and knows no patterns.

Written from section 6 of the specification of `datalayer-session/1` alone. Slow, and as plain as it can be.
"""

from __future__ import annotations

from collections.abc import Callable

MARK = "[redacted]"
WITHHELD = "[a credential, withheld]"
HOLE = "\ue000"  # stands for a removed credential while these are counted; no text of the tests has it

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
DIGITS = "0123456789"
ALNUM = UPPER + LOWER + DIGITS
CASES = {"s": "S\u017f", "k": "K\u212a", "i": "I\u0130\u0131"}  # a long s, a Kelvin sign, an i with and without its dot
ANY_CASE = UPPER + LOWER + "".join(CASES.values())

HEADERS = ["authorization", "proxy-authorization", "proxy_authorization", "cookie", "set-cookie"]
WORDS = ["password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "access_key", "secret_key"]
WORDS += ["private_key", "credential", "credentials"]

Match = Callable[[str, int], int | None]
"""Where what begins at a place of a text ends; None when nothing begins there."""


def is_word(character: str) -> bool:
    """Letters, digits and underscore of any script."""
    return character.isalnum() or character == "_"


def is_edge(text: str, at: int) -> bool:
    """Whether a word boundary lies in front of `at`."""
    before = at > 0 and is_word(text[at - 1])
    after = at < len(text) and is_word(text[at])
    return before != after


def run(text: str, at: int, letters: str) -> int:
    """Where the run of `letters` from `at` ends."""
    while at < len(text) and text[at] in letters:
        at += 1
    return at


def longest(text: str, at: int, letters: str, least: int, most: int | None = None) -> int | None:
    """The farthest end of a run of `letters` from `at` that lies on a word boundary and is long enough."""
    end = run(text, at, letters)
    if most is not None:
        end = min(end, at + most)
    while end - at >= least:
        if is_edge(text, end):
            return end
        end -= 1
    return None


def bounded(prefixes: list[str], letters: str, least: int, most: int | None = None) -> Match:
    """A prefix and a run of `letters`, between word boundaries."""

    def match(text: str, at: int) -> int | None:
        if not is_edge(text, at):
            return None
        for prefix in prefixes:
            if text.startswith(prefix, at):
                end = longest(text, at + len(prefix), letters, least, most)
                if end is not None:
                    return end
        return None

    return match


def fence(text: str, at: int, word: str) -> int | None:
    """The end of `-----BEGIN … PRIVATE KEY-----` (or END) that starts at `at`."""
    start = f"-----{word} "
    if not text.startswith(start, at):
        return None
    at += len(start)
    after_word = run(text, at, UPPER)
    starts = [at]
    if after_word > at and text[after_word : after_word + 1] == " ":
        starts.append(after_word + 1)
    for begin in starts:
        if text.startswith("PRIVATE KEY-----", begin):
            return begin + len("PRIVATE KEY-----")
    return None


def private_key(text: str, at: int) -> int | None:
    """A block to its nearest end, or to the end of the text."""
    after = fence(text, at, "BEGIN")
    if after is None:
        return None
    while after < len(text):
        end = fence(text, after, "END")
        if end is not None:
            return end
        after += 1
    return len(text)


def signed_token(text: str, at: int) -> int | None:
    """Three parts joined by dots."""
    if not is_edge(text, at):
        return None
    letters = ALNUM + "_-"
    for _ in range(2):
        if not text.startswith("eyJ", at):
            return None
        end = run(text, at + 3, letters)
        if end - at < 13 or text[end : end + 1] != ".":
            return None
        at = end + 1
    return longest(text, at, letters, 10)


SHAPES: list[Match] = [
    private_key,
    bounded(["AKIA", "ASIA"], UPPER + DIGITS, 16, 16),
    bounded([f"gh{kind}_" for kind in "pousr"], ALNUM, 36),
    bounded([f"xox{kind}-" for kind in "abposr"], ALNUM + "-", 10),
    bounded(["sk-ant-", "sk-proj-", "sk-"], ALNUM + "_-", 20),
    bounded(["AIza"], ALNUM + "_-", 35, 35),
    signed_token,
]


def replaced(text: str, match: Match, mark: str) -> str:
    """`text` with `mark` for each match, left to right."""
    written, at = "", 0
    while at < len(text):
        end = match(text, at)
        if end is None:
            written += text[at]
            at += 1
        else:
            written += mark
            at = end
    return written


def held_value(values: list[str]) -> Match:
    """Any of the values, the longest one that begins there."""
    ordered = sorted((value for value in values if value), key=len, reverse=True)

    def match(text: str, at: int) -> int | None:
        return next((at + len(value) for value in ordered if text.startswith(value, at)), None)

    return match


def same_letter(one: str, lower: str) -> bool:
    """Whether a letter is the same in any case."""
    return one == lower or one in CASES.get(lower, lower.upper())


def is_same(text: str, lower: str) -> bool:
    """Whether a word is the same in any case."""
    return len(text) == len(lower) and all(map(same_letter, text, lower))


def scheme_word(text: str, at: int) -> int | None:
    """The end of `bearer`, `basic` or `token`, in any case, at a word boundary."""
    if not is_edge(text, at):
        return None
    for word in ("bearer", "basic", "token"):
        if is_same(text[at : at + len(word)], word):
            return at + len(word)
    return None


def without_schemes(text: str) -> tuple[str, int]:
    """Rule 4, and how many times."""
    written, at, count = "", 0, 0
    while at < len(text):
        word = scheme_word(text, at)
        if word is not None:
            value = word
            while value < len(text) and text[value].isspace():
                value += 1
            end = value
            while end < len(text) and not text[end].isspace():
                end += 1
            if value > word and end > value and text[value : value + len(MARK)].lower() != MARK:
                written += text[at:word] + " " + MARK
                at = end
                count += 1
                continue
        written += text[at]
        at += 1
    return written, count


def without_userinfo(text: str) -> str:
    """Rule 5."""
    written, at = "", 0
    while at < len(text):
        end = None
        if is_edge(text, at) and text[at] in ANY_CASE:
            colon = run(text, at, ANY_CASE + DIGITS + "+.-")
            if text.startswith("://", colon):
                end = userinfo(text, colon + 3)
                if end is not None:
                    written += text[at : colon + 3]
                    at = end
        if end is None:
            written += text[at]
            at += 1
    return written


def userinfo(text: str, start: int) -> int | None:
    """The end of `user:password@` from `start`."""
    at = start
    while at < len(text) and text[at] not in "/@:" and not text[at].isspace():
        at += 1
    if at == start:
        return None
    if text[at : at + 1] == ":":
        at += 1
        while at < len(text) and text[at] not in "/@" and not text[at].isspace():
            at += 1
    return at + 1 if text[at : at + 1] == "@" else None


class Scanner:
    """What `Redactor` does, done once more."""

    def __init__(self, declared: list[str], held: list[str]) -> None:
        self.declared, self.held = declared, held
        self.counts: dict[str, int] = {}

    def add(self, rule: str, count: int) -> None:
        """Count for a rule."""
        if count:
            self.counts[rule] = self.counts.get(rule, 0) + count

    def text(self, text: str) -> str:
        """The five rules on a text."""
        pieces = text.split(WITHHELD)
        self.add("bearer_token", len(pieces) - 1)
        text = MARK.join(pieces)
        for value in self.declared:
            if value and value in text:
                text = MARK.join(text.split(value))
                self.add("declared_secret", 1)
        text = replaced(text, held_value(self.held), HOLE)
        for shape in SHAPES:
            text = replaced(text, shape, HOLE)
        self.add("bearer_token", text.count(HOLE))
        text, schemes = without_schemes(text.replace(HOLE, MARK))
        self.add("bearer_token", schemes)
        without = without_userinfo(text)
        self.add("url_userinfo", int(without != text))
        return without

    def value(self, value: object, key: str = "") -> object:
        """The walk, with the key under which a value stands."""
        is_open = value is not None and value not in ("", MARK)
        if key.lower() in HEADERS and is_open:
            self.add("authorization_header", 1)
            return MARK
        if is_credential_key(key) and is_open and not isinstance(value, (dict, list, tuple)):
            self.add("bearer_token", 1)
            return MARK
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        kept: dict[str, object] = {}
        for name, member in value.items():
            if str(name) in ("signed", "user"):
                self.add("signed_user", 1)
            elif str(name) in ("runs_on", "host", "sandbox_host", "runtime_uid"):
                self.add("runtime_address", 1)
            else:
                kept[str(name)] = self.value(member, str(name))
        return kept


def is_credential_key(key: str) -> bool:
    """Section 6.2."""
    key = key.removesuffix("\n")
    for word in WORDS:
        before, last = key[: -len(word)], key[-len(word) :]
        if is_same(last, word) and (before == "" or (before[-1] in "_-." and "\n" not in before)):
            return True
    return False
