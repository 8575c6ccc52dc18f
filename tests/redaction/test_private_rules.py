"""The private rules: persons and machines become keyed pseudonyms, the same for the same one wherever it stands."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

import pytest

from sessionlab.redaction import PRIVATE_RULES, StrictRedactor

KEY = b"a key"


def digits(kind: str, value: str) -> str:
    """The first 12 hexadecimal digits of HMAC-SHA256 of kind, a zero and value."""
    return hmac.new(KEY, f"{kind}\0{value}".encode(), hashlib.sha256).hexdigest()[:12]


ADA = f"user-{digits('user', 'ada')}"


def after(text: str, *also: str, **options: object) -> str:
    """``text`` after learning it, with the private rules ``also`` (all without any); checked to be at rest."""
    redactor = StrictRedactor(also=also or PRIVATE_RULES, key=KEY, **options)  # type: ignore[arg-type]
    redactor.learn(text)
    became = redactor.text(text)
    again = StrictRedactor(also=also or PRIVATE_RULES, key=KEY, **options)  # type: ignore[arg-type]
    again.learn(became)
    assert again.text(became) == became
    assert again.counts == {}
    return became


@pytest.mark.parametrize(
    "path",
    [
        "/home/{}/code/x.py",
        "/Users/{}/code",
        "/Users/{}",
        r"C:\Users\{}\code",
        r"C:\\Users\\{}\\code",
        "C:/Users/{}/code",
        "/mnt/c/Users/{}/code",
        "file:///home/{}/x",
        "%2FUsers%2F{}%2Fcode",
        "/root/.claude/projects/-Users-{}-code/x.jsonl",
        "-home-{}-code",
    ],
)
def test_home_folders(path: str) -> None:
    """The name in a home folder is replaced, in every writing of the path; the path stays."""
    assert after(f"in {path.format('ada')} there", "home_folder") == f"in {path.format(ADA)} there"


@pytest.mark.parametrize(
    "path",
    [
        "/home/ubuntu/x",
        "/Users/Shared/x",
        "/home/runner/work",
        "https://h.example/home/index.html",
        "/homework/ada",
        "/root/x",
    ],
)
def test_home_folders_of_no_person(path: str) -> None:
    """Folders of accounts that every machine has, and paths that only look like one, stay."""
    assert after(path, "home_folder") == path


def test_user_names_are_learned_from_home_folders() -> None:
    """Who has a home folder is replaced as a whole word elsewhere, by the same pseudonym."""
    assert after("/home/ada/x is owned by ada, not by adamant", "home_folder", "user_name") == (
        f"/home/{ADA}/x is owned by {ADA}, not by adamant"
    )


def test_user_names_are_learned_from_keys() -> None:
    """A home folder in a key tells of its user too."""
    redactor = StrictRedactor(also=["home_folder", "user_name"], key=KEY)
    value = {"note": "by ada", "files": {"/home/ada/x": 1}}
    redactor.learn(value)
    assert redactor.value(value) == {"note": f"by {ADA}", "files": {f"/home/{ADA}/x": 1}}


def test_user_names_given() -> None:
    """Names given are replaced in any case; names that say nothing of a person never are."""
    assert after("Ada and root", "user_name", users=["ada", "root"]) == f"{ADA} and root"


HOST = f"host-{digits('host', 'build-7.corp')}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://build-7.corp:8080/x", f"http://{HOST}:8080/x"),
        ("ssh -p 22 ada@build-7.corp ls", f"ssh -p 22 ada@{HOST} ls"),
        ("scp x ada@build-7.corp:/tmp/x", f"scp x ada@{HOST}:/tmp/x"),
        ("http://db:5432/x", f"http://host-{digits('host', 'db')}:5432/x"),
        (
            "at 10.1.2.3 and 192.168.0.9",
            f"at host-{digits('host', '10.1.2.3')} and host-{digits('host', '192.168.0.9')}",
        ),
        ("at fd00::1", f"at host-{digits('host', 'fd00::1')}"),
        ("mac-book.local is up", f"host-{digits('host', 'mac-book.local')} is up"),
    ],
)
def test_host_names(text: str, expected: str) -> None:
    """Private names and addresses are replaced."""
    assert after(text, "host_name") == expected


@pytest.mark.parametrize(
    "text",
    [
        *("http://localhost:8080", "http://127.0.0.1:1", "http://[::1]:1", "http://host.docker.internal:1"),
        *("https://example.com/x", "8.8.8.8", "0.0.0.0:80", "git@github.com:a/b.git"),
        *("threading.local()", "v10.1.2", "python@3.11"),
    ],
)
def test_hosts_that_stay(text: str) -> None:
    """This machine, public names and what only looks like a host stay."""
    assert after(text, "host_name") == text


def test_host_names_given() -> None:
    """A host given is replaced wherever it stands as a word."""
    assert (
        after("on prod9, not prod91", "host_name", hosts=["prod9"]) == f"on host-{digits('host', 'prod9')}, not prod91"
    )


def test_email_addresses() -> None:
    """An address becomes one of a domain that does not exist; its case does not matter; a clone's address stays."""
    mail = f"mail-{digits('mail', 'ada@example.org')}@example.invalid"
    text = "Ada <ada@example.org>, Ada@Example.org; git@github.com:a/b, x@1.2.3"
    assert after(text, "email_address") == f"Ada <{mail}>, {mail}; git@github.com:a/b, x@1.2.3"


RANDOM = "q7Zt3Xv9Lm2Kc8Rb5Wn1Yd6Hs4Gf0Jp"  # 31 characters, each once but none: 4.95 bits a character


def test_high_entropy_strings() -> None:
    """A string drawn at random is replaced, quoted or not; a hash, a uuid, an id and a path are not."""
    entropy = f"entropy-{digits('entropy', RANDOM)}"
    assert after(f'"{RANDOM}" {RANDOM} x={RANDOM}', "high_entropy") == f'"{entropy}" {entropy} x={entropy}'
    for clean in (
        hashlib.sha256(b"x").hexdigest(),
        hashlib.md5(b"x").hexdigest(),
        "123e4567-e89b-42d3-a456-426614174000",
        "toolu_01" + RANDOM,
        "/srv/Data/reports/Year2024/Q3/Summary-v2/tables",
        "aLongCamelCaseNameOfAFunctionInCode2",
    ):
        assert after(f"see {clean} there", "high_entropy") == f"see {clean} there"


def test_hexadecimal_of_no_hash_length() -> None:
    """Hexadecimal digits of another length than a hash's are drawn at random."""
    digits_ = hashlib.sha512(b"x").hexdigest()[:50]
    assert after(digits_, "high_entropy") == f"entropy-{digits('entropy', digits_)}"


def test_another_key_another_pseudonym() -> None:
    """Of two keys the pseudonyms differ; without a key each redactor has its own."""
    texts = [StrictRedactor(also=["home_folder"], key=key).text("/home/ada/x") for key in (b"1", b"2", None, None)]
    assert len(set(texts)) == 4


def test_private_rules_only_when_asked_for() -> None:
    """The strict rules alone leave persons and machines."""
    text = f"/home/ada/x at 10.1.2.3, ada@example.org, {RANDOM}"
    assert StrictRedactor().text(text) == text


def test_unknown_private_rule() -> None:
    """A rule that does not exist is refused by name."""
    with pytest.raises(ValueError, match="'shoe_size'"):
        StrictRedactor(also=["shoe_size"])


def test_private_rules_in_keys_and_json_text() -> None:
    """Keys and texts that are JSON are searched too."""
    redactor = StrictRedactor(also=["home_folder"], key=KEY)
    value = {"/home/ada/x": '{"cwd": "/home/ada"}'}
    assert redactor.value(value) == {f"/home/{ADA}/x": f'{{"cwd": "/home/{ADA}"}}'}
    assert redactor.findings[0].rule == "object_key"


def test_text_in_base64_is_as_random_as_what_it_says() -> None:
    """Prose in base64 stays; a key in base64 does not."""
    prose = base64.b64encode(b"The marble and the pebble are by the lagoon, 17 of them.").decode()
    key = base64.b64encode(b"k7Qx9ZtB4mV1sYw8LdR2nHcE").decode()
    redactor = StrictRedactor(also=["high_entropy"], key=b"k")
    assert redactor.text(f"sent {prose} on") == f"sent {prose} on"
    assert key not in redactor.text(f"sent {key} on")


def test_an_address_goes_whole_though_it_begins_with_a_known_user() -> None:
    """The user's name is known from a home folder; the rest of the address, surname and domain, goes with it."""
    redactor = StrictRedactor(also=PRIVATE_RULES, key=b"k")
    redactor.learn("/Users/wrenfield/birds")
    told = redactor.text("Author: wrenfield.marsh@harbour-labs.example, wrenfield")
    assert "marsh" not in told
    assert "harbour" not in told
    assert re.fullmatch(r"Author: mail-[0-9a-f]{12}@example\.invalid, user-[0-9a-f]{12}", told)


def test_a_home_folder_of_a_common_name_is_a_home_folder() -> None:
    """`dev` may be somebody's own account; what all share, or what instructions say, is nobody's."""
    redactor = StrictRedactor(also=["home_folder", "user_name"], key=b"k")
    for name in ("dev", "admin", "user"):
        assert re.fullmatch(r"/home/user-[0-9a-f]{12}/x", redactor.text(f"/home/{name}/x"))
    for path in ("/Users/Shared/x", "/home/username/x", "/home/runner/x"):
        assert redactor.text(path) == path
    assert redactor.text("the dev and the admin") == "the dev and the admin"
