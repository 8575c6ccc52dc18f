"""Names of classes in, over 5,000 invented values out that are no secrets and must outlive redaction."""

from __future__ import annotations

import base64
import json
import struct
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from tests.redaction.planted.drawing import ALNUM, DIGITS, HEX, Drawing
from tests.redaction.planted.prose import CODE, CODE_WITH_SCHEME_WORDS, PROSE, PROSE_WITH_SCHEME_WORDS

SCHEME_WORDS = ("prose_with_scheme_words", "code_with_scheme_words")
"""The classes the format's own exact rule for schemes destroys by specification (6.3, rule 4)."""


@dataclass(frozen=True, slots=True)
class Clean:
    """A value that is no secret, and its class."""

    kind: str
    value: str


def _uuid4(draw: Drawing, _: int) -> str:
    return str(uuid.UUID(bytes=draw.octets(16), version=4))


def _uuid7(draw: Drawing, i: int) -> str:
    head = (1_790_000_000_000 + i * 977).to_bytes(6, "big").hex()
    rest = draw.text(HEX, 18)
    return f"{head[:8]}-{head[8:]}-7{rest[:3]}-{draw.one('89ab')}{rest[3:6]}-{rest[6:]}"


def _sri(draw: Drawing, i: int) -> str:
    name, size = (("sha384", 48), ("sha512", 64), ("sha256", 32))[i % 3]
    return f"{name}-{base64.b64encode(draw.octets(size)).decode()}"


def _npm_integrity(draw: Drawing, i: int) -> str:
    name = f"{draw.words(1)[0]}-{draw.words(1)[0]}-{i}"
    digest = base64.b64encode(draw.octets(64)).decode()
    return (
        f'"node_modules/{name}": {{"version": "{draw.below(9)}.{draw.below(30)}.{i}", "integrity": "sha512-{digest}"}}'
    )


def _time(draw: Drawing, i: int) -> str:
    day = f"2026-{draw.between(1, 12):02}-{draw.between(1, 28):02}"
    clock = f"{draw.below(24):02}:{draw.below(60):02}:{draw.below(60):02}"
    return (f"{day}T{clock}.{i:06}Z", f"{day}T{clock}+02:{i % 60:02}", f"{day} {clock},{i:03}")[i % 3]


def _semver(draw: Drawing, i: int) -> str:
    words = draw.words(1)
    return (f"{words[0]}@{i}.{draw.below(40)}.{draw.below(99)}", f"v{draw.below(20)}.{i}.{draw.below(99)}-rc.{i % 7}")[
        i % 2
    ]


def _path(draw: Drawing, i: int) -> str:
    words = draw.words(4)
    return (
        f"/home/eve/{words[0]}/src/{words[1]}/{words[2]}_{i}.py",
        f"/usr/lib/python3.12/site-packages/{words[0]}/{words[1]}{i}.py",
        f"src/components/{words[0].title()}{words[1].title()}{i}.tsx",
        f"./build/{words[0]}/{words[1]}-{words[2]}.{i}.tar.gz",
        f"~/.config/{words[0]}/{words[1]}.{i}.toml",
        f"C:/Users/eve/{words[0]}/{words[1]}{i}.csproj",
        f"tests/auth/test_token_{words[0]}_{i}.py",
    )[i % 7]


def _url(draw: Drawing, i: int) -> str:
    words = draw.words(3)
    return (
        f"https://{words[0]}.example/{words[1]}/{i}?page={draw.below(90)}&sort={words[2]}",
        f"https://github.com/{words[0]}/{words[1]}/blob/main/src/{words[2]}{i}.py#L{draw.between(1, 900)}",
        f"http://localhost:{8000 + i}/{words[0]}/{words[1]}",
        f"https://docs.{words[0]}.example/en/latest/{words[1]}.html#{words[2]}-{i}",
        f"git+https://github.com/{words[0]}/{words[1]}.git#egg={words[2]}{i}",
        f"wss://{words[0]}.example/live/{i}",
        f"s3://{words[0]}-{words[1]}/{words[2]}/part-{i:05}.parquet",
        f"https://{words[0]}.example/auth/login?next=/{words[1]}/{i}",
    )[i % 8]


def _tool_id(draw: Drawing, i: int) -> str:
    return (
        f"toolu_01{draw.text(ALNUM, 22)}",
        f"call_{draw.text(ALNUM, 24)}",
        f"msg_01{draw.text(ALNUM, 22)}",
        f"req_011{draw.text(ALNUM, 21)}",
        f"chatcmpl-{draw.text(ALNUM, 29)}",
        f"resp_{draw.text(HEX, 48)}",
        f"run_{draw.text(DIGITS, 10)}",
    )[i % 7]


def _png(draw: Drawing, _: int) -> str:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    row = b"\0" + draw.octets(3)
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    image = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")
    return base64.b64encode(image).decode()


def _base64_prose(draw: Drawing, i: int) -> str:
    words = draw.words(6)
    text = f"The {words[0]} and the {words[1]} are by the {words[2]}, {i} steps from the {words[3]} {words[4]}."
    return base64.b64encode(text.encode()).decode()


def _number(draw: Drawing, i: int) -> str:
    return (
        f"{draw.between(10**8, 10**9)}{i:04}",
        f"{draw.between(100, 999)},{draw.below(1000):03},{i:03} rows",
        f"0x{draw.text(HEX, 12)}",
        f"{draw.below(100)}.{draw.text(DIGITS, 9)}",
        f"+31 20 {draw.text(DIGITS, 3)} {i:04}",
    )[i % 5]


def _address(draw: Drawing, i: int) -> str:
    return (
        f"10.{draw.below(256)}.{i % 256}.{draw.below(256)}:{8000 + i}",
        f"192.168.{draw.below(256)}.{i % 256}/24",
        f"fe80::{draw.text(HEX[1:], 4)}:{draw.text(HEX[1:], 4)}:{draw.text(HEX[1:], 4)}",
        f"02:{draw.text(HEX, 2)}:{draw.text(HEX, 2)}:{draw.text(HEX, 2)}:{draw.text(HEX, 2)}:{i % 100:02}",
    )[i % 4]


def _model(draw: Drawing, i: int) -> str:
    day = f"2026{draw.between(1, 12):02}{draw.between(1, 28):02}"
    maker = draw.words(2)
    return (
        f"claude-{maker[0]}-{i}-{day}",
        f"gpt-{i}.{draw.below(9)}-{maker[0]}",
        f"{maker[0]}/{maker[1]}-{i}b-instruct",
        f"models/gemini-{i}.0-{maker[1]}-latest",
        f"{maker[0]}.{maker[1]}-v{i}:0",
    )[i % 5]


def _json_snippet(draw: Drawing, i: int) -> str:
    words = draw.words(2)
    return (
        json.dumps({"input_tokens": i, "output_tokens": draw.below(9000), "cache_read_input_tokens": draw.below(99)}),
        json.dumps({"max_tokens": 4096 + i, "stop": [words[0]], "temperature": 0.5}),
        json.dumps({"key": words[0], "keys": [words[1], f"k{i}"], "sort_key": f"{words[0]}_{i}"}),
        json.dumps({"type": "tool_use", "id": f"t{i}", "name": words[0], "token_count": draw.below(9000)}),
        json.dumps({"author": words[0], "authorized": True, "password_required": False, "n": i}),
        json.dumps({"name": words[0], "value": f"{words[1]} {i}"}),
        json.dumps({"primary_key": f"{words[0]}_id_{i}", "foreign_keys": [words[1]]}),
    )[i % 7]


def _drawn(lines: tuple[str, ...]) -> Callable[[Drawing, int], str]:
    """Lines in turn, their braces filled: ``{a}``, ``{b}`` with words, ``{n}`` with a number of its own."""

    def fill(draw: Drawing, i: int) -> str:
        words = draw.words(2)
        line = lines[i % len(lines)]
        return line.replace("{a}", words[0]).replace("{b}", words[1]).replace("{n}", str(1000 + i))

    return fill


_CLASSES: dict[str, tuple[int, Callable[[Drawing, int], str]]] = {
    "uuid4": (400, _uuid4),
    "uuid7": (300, _uuid7),
    "sha1": (300, lambda draw, _: draw.text(HEX, 40)),
    "sha256": (300, lambda draw, _: draw.text(HEX, 64)),
    "md5": (250, lambda draw, _: draw.text(HEX, 32)),
    "digest": (250, lambda draw, _: f"sha256:{draw.text(HEX, 64)}"),
    "short_hash": (250, lambda draw, i: f"commit {draw.text(HEX, 7 + i % 5)}"),
    "iso_time": (250, _time),
    "semver": (200, _semver),
    "path": (350, _path),
    "url": (320, _url),
    "tool_id": (350, _tool_id),
    "base64_png": (100, _png),
    "base64_prose": (150, _base64_prose),
    "number": (250, _number),
    "ip_address": (200, _address),
    "model_name": (200, _model),
    "sri_hash": (200, _sri),
    "npm_integrity": (150, _npm_integrity),
    "json_snippet": (280, _json_snippet),
    "code": (400, _drawn(CODE)),
    "prose": (400, _drawn(PROSE)),
    "code_with_scheme_words": (200, _drawn(CODE_WITH_SCHEME_WORDS)),
    "prose_with_scheme_words": (300, _drawn(PROSE_WITH_SCHEME_WORDS)),
}
CLEAN_CLASSES = tuple(_CLASSES)


def clean_values() -> list[Clean]:
    """All clean values, class by class; distinct, none inside another one."""
    return [
        Clean(kind, make(Drawing(f"clean/{kind}/{i}"), i))
        for kind, (count, make) in _CLASSES.items()
        for i in range(count)
    ]
