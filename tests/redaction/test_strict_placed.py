"""Credentials that colours, wide letters or their place in a format hide are found; what stands beside them stays."""

from __future__ import annotations

import base64

import pyarrow as pa
import pytest

from sessionlab.arrow import SCHEMAS
from sessionlab.redaction import MARK, StrictRedactor
from sessionlab.redaction.sharing import share
from sessionlab.redaction.treatments import TREATMENTS

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def redacted(text: str, *also: str) -> str:
    """``text`` after a first and a second pass."""
    redactor = StrictRedactor(also=also, key=b"key", keeps_prose=True)
    redactor.learn(text)
    return redactor.text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"\x1b[32m{TOKEN}\x1b[0m", f"\x1b[32m{MARK}\x1b[0m"),
        (f"\\u001b[32m{TOKEN}\\u001b[0m", f"\\u001b[32m{MARK}\\u001b[0m"),
        ("\x1b[1mpassword\x1b[0m=\x1b[32mkettle9violin\x1b[0m", f"\x1b[1mpassword\x1b[0m=\x1b[32m{MARK}\x1b[0m"),
        (f"{TOKEN[:10]}\u200b{TOKEN[10:]}", MARK),
        ("pass\u200bword=kettle9violin", f"pass\u200bword={MARK}"),
        ("ｐａｓｓｗｏｒｄ：kettle9violin", f"ｐａｓｓｗｏｒｄ：{MARK}"),
        ("password:\u00a0kettle9violin", f"password:\u00a0{MARK}"),
        ("password = “kettle violin”", f"password = “{MARK}”"),
        ("{&quot;password&quot;:&quot;kettle violin&quot;}", f"{{&quot;password&quot;:&quot;{MARK}&quot;}}"),
    ],
)
def test_what_is_only_drawn_otherwise_is_read_as_it_is_seen(text: str, expected: str) -> None:
    """Colours, characters without width, wide letters, blanks and entities hide nothing, and stay."""
    assert redacted(text) == expected


def test_a_learned_value_is_found_across_a_colour() -> None:
    """A credential learned in one text is found in another where a search has coloured a part of it."""
    redactor = StrictRedactor(keeps_prose=True)
    coloured = "see kettle\x1b[01;31m9violin\x1b[m here"
    redactor.text(coloured)
    redactor.learn("export DB_PASSWORD=kettle9violin")
    assert redactor.text(coloured) == f"see {MARK}\x1b[m here"


def test_a_home_folder_behind_a_colour_is_one() -> None:
    """The letter that ends a colour is no part of the path behind it."""
    assert "ada" not in redacted("\x1b[35m/home/ada/x.py\x1b[m", "home_folder")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE USER 'a' IDENTIFIED BY 'kettle violin';", f"CREATE USER 'a' IDENTIFIED BY '{MARK}';"),
        ("CREATE ROLE a LOGIN PASSWORD 'kettle violin';", f"CREATE ROLE a LOGIN PASSWORD '{MARK}';"),
        ("machine x login ada password kettleviolin", f"machine x login ada password {MARK}"),
        (
            '<input type="password" name="x" value="kettle violin">',
            f'<input type="password" name="x" value="{MARK}">',
        ),
        ('<add key="ApiPassword" value="kettle violin"/>', f'<add key="ApiPassword" value="{MARK}"/>'),
        ('<w:Password Type="x">kettle violin</w:Password>', f'<w:Password Type="x">{MARK}</w:Password>'),
        ("<key>password</key>\n<string>kettle v</string>", f"<key>password</key>\n<string>{MARK}</string>"),
        ('; name="password"\r\n\r\nkettle violin\r\n--x', f'; name="password"\r\n\r\n{MARK}\r\n--x'),
        ("setx API_TOKEN kettleviolin", f"setx API_TOKEN {MARK}"),
        ("| password | kettle9violin |", f"| password | {MARK} |"),
        ("password: |\n  kettle-Violin-88\n", f"password: |\n  {MARK}\n"),
        ("https://x.example/?sig=abcDEF123xyz4567890", f"https://x.example/?sig={MARK}"),
        ("Server=db;Password=kettle violin 9;Database=x", f"Server=db;Password={MARK};Database=x"),
        ("UID=ada;PWD={kettle;violin};", f"UID=ada;PWD={{{MARK}}};"),
        ('see: {"auth": "YWRhOmtldHRsZTl2aW9saW4="}', f'see: {{"auth": "{MARK}"}}'),
        ("curl -su ada:kettle9violin https://x.example", f"curl -su {MARK} https://x.example"),
        ("curl -b 'sid=kettle9violin; a=b' https://x.example", f"curl -b '{MARK}' https://x.example"),
        ("7z x -pkettle9violin a.7z", f"7z x -p{MARK} a.7z"),
        ("mongosh -u ada -p kettle9violin", f"mongosh -u ada -p {MARK}"),
        ("Passwort: kettle9violin", f"Passwort: {MARK}"),
        ("contraseña: kettle9violin", f"contraseña: {MARK}"),
        ("密码: kettle9violin", f"密码: {MARK}"),
        ("GITHUB_PAT=kettle9violin", f"GITHUB_PAT={MARK}"),
        ("root:$6$abcdefgh$Vt6Us5Tr4Sq3Rp2Qo1Pn0MKIXQJ7r:19000", f"root:{MARK}:19000"),
        (f"dckr_pat_{'aB3dE5gH' * 4} stays not", f"{MARK} stays not"),
    ],
)
def test_a_credential_that_its_place_tells_is_removed(text: str, expected: str) -> None:
    """Formats that put a value elsewhere than behind a sign: what stands beside the value is left."""
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[32mok\x1b[0m 3 passed, the token count is 12",
        '<input type="text" name="city" value="kettle violin">',
        '<input type="password" name="x" placeholder="your password">',
        "| token | meaning |",
        "| password | the word a user types |",
        "password: |\n  The word a user types\n",
        "identified by their names, and of a user's password",
        "ldapsearch -b dc=example,dc=org uid=ada cn",
        "unzip -p archive.zip > out",
        "http server on -p 8080",
        "git config --global user.name ada",
        "npm config set registry https://r.example",
        "for a;password={a: 1};",
        "SELECT token FROM users WHERE login = 'x'",
        "&quot;city&quot;: &quot;Kettle&quot;",
    ],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    """Neither colours nor tables, tags or options make a credential of anything."""
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("table", "column"),
    [("pools", "content_id"), ("pools", "original_id"), ("configs", "tools_hash"), ("links", "digest")],
)
def test_a_credential_that_a_file_calls_a_digest_is_replaced(table: str, column: str) -> None:
    """A file says of its own bodies what they are called: what is no digest is looked at like any text."""
    tables = {stem: SCHEMAS[stem].empty_table() for stem in SCHEMAS if stem in TREATMENTS}
    zero = {pa.string(): "x", pa.bool_(): False}
    row = {field.name: None if field.nullable else zero.get(field.type, 0) for field in SCHEMAS[table]}
    clean = "sha256:" + "0f" * 32
    tables[table] = pa.Table.from_pylist([{**row, column: TOKEN}, {**row, column: clean}], SCHEMAS[table])
    shared = share(lambda: ((stem, one.to_reader()) for stem, one in tables.items()), key=b"key")
    became = shared.tables[table][column].to_pylist()
    assert became[0].startswith("redacted-")
    assert became[1] == clean


TOLD = {
    "The password for the staging box is Heron-Tide42!lamp so log in.": "Heron-Tide42!lamp",
    "my password was changed to purpleotter77": "purpleotter77",
    "Das Passwort der Werft lautet 'Möwe-1887-Kiel'.": "Möwe-1887-Kiel",
}


@pytest.mark.parametrize(("text", "secret"), TOLD.items())
def test_a_password_told_in_a_sentence(text: str, secret: str) -> None:
    """Words stand between its name and itself; it has digits or signs amid its letters."""
    assert StrictRedactor(keeps_prose=True).text(text) == text.replace(secret, "[redacted]")


@pytest.mark.parametrize(
    "text",
    [
        "The password must be at least 12 characters, so that it is required everywhere.",
        "a password that is stored in config.v2.json is read",
        "The password reset was sent to ada2@example.org",
        "The password policy is documented in section-12a of the handbook",
        "password handling was moved to src/auth_v2/login.py",
    ],
)
def test_a_sentence_about_passwords_stays(text: str) -> None:
    """It tells none."""
    assert StrictRedactor(keeps_prose=True).text(text) == text


def test_user_and_password_behind_basic_are_known_in_plain_too() -> None:
    """Whoever decodes the header in the next line has told it again."""
    pair = "marguerite:Saltmarsh-9-Ember"
    header = f"Authorization: Basic {base64.b64encode(pair.encode()).decode()}"
    redactor = StrictRedactor(keeps_prose=True)
    said = [header, {"result": pair}, "so Saltmarsh-9-Ember it is"]
    redactor.learn(said)
    assert redactor.value(said) == ["Authorization: [redacted]", {"result": "[redacted]"}, "so [redacted] it is"]


@pytest.mark.parametrize("value", ["=0000000", "==AAAA", "ab=cdefgh", "=", "A=======", "0000000=0"])
def test_padding_elsewhere_than_at_the_end_is_no_base64(value: str) -> None:
    """A header may hold anything; what is no base64 is a credential all the same."""
    redactor = StrictRedactor()
    payload = {"headers": {"Authorization": value}, "auth": value, "note": f"Authorization: Basic {value}"}
    redactor.learn(payload)
    assert redactor.value(payload)["headers"] == {"Authorization": "[redacted]"}
