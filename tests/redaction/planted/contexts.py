"""Secrets in, 500 planted ones out: in which context and format, what carries it, and what must not survive of it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from tests.redaction.planted.drawing import Drawing
from tests.redaction.planted.secrets import BY_ENTROPY, KINDS, PER_KIND, Secret, secret

Carrier = Literal["question", "answer", "result", "arguments", "command", "title"]
Content = str | dict[str, object]

FORMATS = ("gg", "mecha", "claude_code", "datalayer")
QUESTION, RESULT = 500, 250
"""So many characters a question (answer, command) and a result has at most: an exporter cuts long ones."""
TITLE = 180
WHOLE = 24
"""From this length on each half of a secret counts, too: a redaction that leaves half of it has failed."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret where it stands.

    Attributes:
        kind: of the secret.
        value: the secret itself.
        context: one of `CONTEXTS`.
        format: one of `FORMATS`.
        id: ``kind-number``.
        carrier: the part of a session that holds it.
        content: that part: a text, or the arguments of a tool call.
        needles: all are found where it is planted; each is a failure when it is found after redaction. The value
            itself, its halves, or what base64 or a URL's escapes made of it.
    """

    kind: str
    value: str
    context: str
    format: str
    id: str
    carrier: Carrier
    content: Content
    needles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a context made of a secret: the part that holds it, and in which spelling."""

    content: Content
    carrier: Carrier | None = None
    needles: tuple[str, ...] = ()
    """What stands there instead of the value, when it is written otherwise."""


def _sentence(told: Secret, i: int, draw: Drawing) -> _Told:
    sentence = (
        "Please use {} when you push the chart to {}.",
        "I pasted {} by mistake; is it still valid in {}?",
        "The answer was ({}), which I kept for {}.",
        "Do not show {} to anyone in {}",
        "{} works for {}, the old one does not.",
        "It says “{}” on the board near {}.",
    )[i % 6]
    return _Told(sentence.format(told.bearing, draw.one(_PLACES)))


def _json_in_string(told: Secret, i: int, draw: Drawing) -> _Told:
    if told.is_named:
        name, value = told.name, told.value
    else:
        name, value = (told.name or "cursor") if i % 2 else "note", told.bearing if told.in_sight else told.value
    text = json.dumps({"region": draw.one(_PLACES), name: value, "retries": draw.between(1, 9)})
    for _ in range(i % 3):  # as it stands, then escaped once, then twice
        text = json.dumps({"status": 200, "body": text})
    if i % 4 < 2:
        return _Told({"path": f"{draw.one(_PLACES)}.json", "content": text}, "arguments")
    return _Told(text)


def _url(told: Secret, i: int, draw: Drawing) -> _Told:
    place, value = draw.one(_PLACES), quote(told.value, safe="")
    if told.value.startswith("https://"):
        url = told.value
    elif told.in_sight:
        url = told.bearing
    elif told.is_named:
        url = f"https://api.{place}.example/v2/charts?berth=7&{quote(told.name)}={value}&page=2"
    else:
        url = (
            f"https://api.{place}.example/v2/charts?berth=7&access_token={value}",
            f"https://{value}@git.{place}.example/charts.git",
            f"https://api.{place}.example/bot{value}/getMe",
            f"wss://x-access-token:{value}@live.{place}.example/feed",
            f"https://{place}.example/hooks/{value}?v=2#top",
            f"https://{place}.example/cb#v={value}&state=9",
        )[i % 6]
    needles = (value,) if value != told.value else ()
    if i % 2:
        return _Told({"url": url, "timeout": 30}, "arguments", needles)
    return _Told(f"I fetched {url} and it answered 200.", None, needles)


def _nested_header(told: Secret, i: int, draw: Drawing) -> _Told:
    if told.in_sight:
        headers = {"Referer" if told.kind == "basic_auth" else "X-Connection": told.bearing}
    else:
        headers = (
            {"Authorization": f"Bearer {told.value}"},
            {"X-Api-Key": told.value},
            {"Cookie": f"sid={told.value}; theme=dark"},
            {"authorization": told.value},
            {"Proxy-Authorization": f"Digest {told.value}"},
            {"Private-Token": told.value},
            {"Set-Cookie": f"session={told.value}; Path=/; HttpOnly"},
        )[i % 7]
    options = {"method": "GET", "headers": {"Accept": "application/json", **headers}}
    return _Told({"url": f"https://{draw.one(_PLACES)}.example/v1", "options": options}, "arguments")


def _header_pair(told: Secret, i: int, draw: Drawing) -> _Told:
    if told.in_sight:
        name, value = "Referer" if told.kind == "basic_auth" else "X-Connection", told.bearing
    else:
        name, value = (
            ("Authorization", f"Bearer {told.value}"),
            ("Cookie", f"sid={told.value}"),
            ("X-Api-Key", told.value),
            ("Authorization", told.value),
        )[i % 4]
    accept, harbour = ("Accept", "*/*"), draw.one(_PLACES)
    pairs: list[object] = (
        [{"name": accept[0], "value": accept[1]}, {"name": name, "value": value}],
        [list(accept), [name, value]],
        [{"key": name, "value": value}, {"key": accept[0], "value": accept[1]}],
    )[i % 3]  # type: ignore[assignment]
    return _Told({"url": f"https://{harbour}.example/v1", "headers": pairs}, "arguments")


def _base64(told: Secret, i: int, draw: Drawing) -> _Told:
    place = draw.one(_PLACES)
    if told.is_named or told.in_sight:
        plain = json.dumps({told.name: told.value}) if told.is_named else f"use {told.bearing} in {place}"
        basic = i % 2 == 0 and told.kind != "azure_storage"
    else:
        plain, basic = f"The one for {place} is {told.value} until May.", i % 2 == 0
    if basic:
        plain = f"deploy:{told.value}"
    encoded, part = _encoded(plain, told.value)
    if basic:
        return _Told({"argv": ["curl", "-H", f"Authorization: Basic {encoded}"]}, "arguments", (encoded, part))
    if i % 4 == 1:
        return _Told({"path": f"{place}.b64", "content": encoded}, "arguments", (encoded, part))
    return _Told(f"data: {encoded}", None, (encoded, part))


def _encoded(plain: str, value: str) -> tuple[str, str]:
    """A text in base64, and the part of it that the value alone decides."""
    encoded = base64.b64encode(plain.encode()).decode()
    start = len(plain[: plain.index(value)].encode())
    end = start + len(value.encode())
    return encoded, encoded[-(-start * 8 // 6) : end * 8 // 6]


def _split_over_arguments(told: Secret, i: int, draw: Drawing) -> _Told:
    place = draw.one(_PLACES)
    if told.kind in BY_ENTROPY:
        return _Told({"argv": ["harborctl", "resume", told.value, "--berth", place]}, "arguments")
    if told.in_sight:
        return _Told({"argv": ["harborctl", "connect", told.bearing, "--quiet"]}, "arguments")
    argv = (
        ["harborctl", "login", "--token", told.value, "--berth", place],
        ["curl", "-s", "-H", f"Authorization: Bearer {told.value}", f"https://{place}.example/v1"],
        ["curl", "-u", f"deploy:{told.value}", f"https://{place}.example/v1"],
        ["harborctl", f"--api-key={told.value}", "list"],
        ["docker", "login", "--username", "deploy", "--password", told.value, f"{place}.example"],
        ["harborctl", "login", "--client-secret", told.value],
    )[i % 6]
    return _Told({"argv": argv, "timeout": 30}, "arguments")


def _assignment(told: Secret, i: int, draw: Drawing) -> _Told:
    name, value, place = told.name, told.bearing if told.in_sight else told.value, draw.one(_PLACES)
    if told.kind == "npm" and told.in_sight:
        return _Told(f"save-exact=true\n{told.bearing}\n", "result")
    quoted = any(mark in value for mark in " #!;\n&")
    if quoted or i % 2:
        lines = (
            f'export {name}="{value}" && make {place}',
            f"client = Client({name.lower()}='{value}', retries=3)",
            f'const {name} = "{value}";',
            f'{place}:\n  {name}: "{value}"\n  port: 8443',
            f"{name} = '{value}'",
        )
    else:
        lines = (
            f"HARBOUR={place}\n{name}={value}\nDEBUG=1",
            f"export {name}={value}",
            f"{place}:\n  {name}: {value}\n  port: 8443",
            f"{name}={value} make {place}",
            f"[{place}]\n{name} = {value}\nport = 8443",
        )
    text = lines[i // 2 % 5]
    is_command = "\n" not in text and (text.startswith("export ") or f"{value} make" in text)
    return _Told(text, "command" if is_command else None)


def _object_key(told: Secret, i: int, draw: Drawing) -> _Told:
    key = told.bearing if told.in_sight or told.is_named or i % 3 else f"Bearer {told.value}"
    return _Told({"seen": {key: draw.between(2, 40), draw.one(_PLACES): 1}}, "arguments")


def _title(told: Secret, i: int, draw: Drawing) -> _Told:
    title = ("Rotate {}", "{}: still valid for {}?", "Push with {} to {}")[i % 3]
    return _Told(title.format(told.bearing, draw.one(_PLACES)), "title")


_PLACES = ("north", "berth", "charts", "tides", "quay", "locks", "pilots", "moor")
_MAKERS: dict[str, Callable[[Secret, int, Drawing], _Told]] = {
    "sentence": _sentence,
    "json_in_string": _json_in_string,
    "url": _url,
    "nested_header": _nested_header,
    "header_pair": _header_pair,
    "base64": _base64,
    "split_over_arguments": _split_over_arguments,
    "assignment": _assignment,
    "object_key": _object_key,
    "title": _title,
}
CONTEXTS = tuple(_MAKERS)
_NOWHERE: dict[str, tuple[str, ...]] = {
    "azure_storage": ("url",),
    "private_key": ("url", "nested_header", "header_pair", "object_key", "title"),
    **dict.fromkeys(BY_ENTROPY, ("url", "nested_header", "header_pair", "base64", "assignment")),
}
"""Contexts in which a kind cannot be meant."""


def planted_all() -> list[Planted]:
    """The 500 planted secrets, 125 for each format, by kind and number."""
    return [_plant(kind, at, i) for at, kind in enumerate(KINDS) for i in range(PER_KIND)]


def _plant(kind: str, at: int, i: int) -> Planted:
    one = secret(kind, i)
    contexts = [context for context in CONTEXTS if context not in _NOWHERE.get(kind, ())]
    # Half of the secrets of a kind are of a second make: they go through the contexts in another order.
    context = contexts[(i + i // len(contexts) + at) % len(contexts)]
    draw = Drawing(f"planted/context/{kind}/{i}")
    told = _MAKERS[context](one, i // 2 + at, draw)
    carrier = told.carrier or _text_carrier(str(told.content), draw)
    size = len(told.content if isinstance(told.content, str) else str(told.content))
    limit = {"result": RESULT, "title": TITLE}.get(carrier, QUESTION)
    if size >= limit:
        raise AssertionError(f"{kind}-{i} in {context}: expected fewer than {limit} characters, found {size}")
    needles = told.needles or _needles(one)
    name = FORMATS[(i + at) % len(FORMATS)]
    return Planted(kind, one.value, context, name, f"{kind}-{i:02}", carrier, told.content, needles)


def _text_carrier(text: str, draw: Drawing) -> Carrier:
    """A question, an answer or, where it is short enough, a result."""
    carriers: tuple[Carrier, ...] = ("question", "answer", "result")
    return draw.one(carriers if len(text) < RESULT else carriers[:2])


def _needles(told: Secret) -> tuple[str, ...]:
    """What must not be found of a secret: itself and its halves; of a key block its inner lines."""
    if "\n" in told.value:
        return tuple(told.value.split("\n")[1:-1])
    if len(told.value) < WHOLE or told.kind == "keyword":  # half a pass phrase is a word or two
        return (told.value,)
    half = len(told.value) // 2
    return (told.value, told.value[:half], told.value[half:])
