"""Credential shapes of many services, made up here, and clean values that look a little like them."""

from __future__ import annotations

import base64
import hashlib
import random
import string
import uuid
from pathlib import Path

import pytest

from sessionlab.redaction import MARK, StrictRedactor

_LETTERS = string.ascii_letters + string.digits


def drawn(count: int, letters: str = _LETTERS, seed: int = 7) -> str:
    """``count`` letters, the same for each seed, with a digit, a capital and a small letter where there are any."""
    source = random.Random(f"{seed}{letters}{count}")
    return "".join(source.choice(letters) for _ in range(count))


HEX = "0123456789abcdef"
SHAPES = {
    "artifactory token": "AKCp" + "8" + drawn(68),
    "artifactory password": "AP6" + drawn(20),
    "aws key id": "ABIA" + drawn(16, string.ascii_uppercase + string.digits),
    "azure account key": drawn(86, _LETTERS + "+/") + "==",
    "cloudant password": "cloudant_password = " + drawn(64, HEX),
    "discord bot": "M" + drawn(23) + "." + drawn(6) + "." + drawn(27),
    "github classic": "ghp_" + drawn(36),
    "github fine-grained": "github_pat_" + drawn(22) + "_" + drawn(59),
    "gitlab": "glpat-" + drawn(20),
    "gitlab runner": "GR1348941" + drawn(20),
    "ibm": "ibm_cloud_iam_key: " + drawn(44),
    "ibm without a vendor": 'key: "' + drawn(44) + '"',
    "unsigned token": base64.b64encode(b'{"alg": "none"}').decode() + "." + base64.b64encode(b'{"sub": "a"}').decode(),
    "mailchimp": drawn(32, HEX) + "-us12",
    "npm": "npm_" + drawn(36),
    "openai": "sk-" + drawn(20) + "T3Blbk" + "FJ" + drawn(20),
    "anthropic": "sk-ant-api03-" + drawn(80),
    "private key": "-----BEGIN RSA PRIVATE" + " KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    "private key, newlines escaped": "-----BEGIN EC PRIVATE" + " KEY-----\\nabc\\n-----END EC PRIVATE KEY-----",
    "pgp": "-----BEGIN PGP PRIVATE" + " KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----",
    "pypi": "pypi-AgEIcHlwaS5vcmc" + drawn(72),
    "sendgrid": "SG." + drawn(22) + "." + drawn(43),
    "slack": "xoxb-" + drawn(12, string.digits) + "-" + drawn(24),
    "slack webhook": "https://hooks.slack.com/services/T" + drawn(8) + "/B" + drawn(8) + "/" + drawn(24),
    "softlayer": "softlayer_api_key = '" + drawn(64, HEX) + "'",
    "square": "sq0csp-" + drawn(43),
    "stripe": "rk_live_" + drawn(24),
    "telegram": drawn(9, "123456789") + ":" + drawn(35),
    "telegram address": "https://api.telegram.org/bot" + drawn(9, "123456789") + ":" + drawn(35) + "/getMe",
    "twilio": "SK" + drawn(32, HEX),
    "hugging face": "hf_" + drawn(34),
    "digitalocean": "dop_v1_" + drawn(64, HEX),
    "google oauth": "ya29." + drawn(60),
    "aws secret key": "aws secret key " + drawn(40, _LETTERS + "/+"),
    "basic auth": "https://ada:" + drawn(12) + "@h/x",
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("around", ["{}", "it is {}, she said", '["{}"]', "x={}", "`{}`"])
def test_shapes(shape: str, around: str) -> None:
    """No run of 12 characters of a credential is left, whatever stands beside it."""
    became = StrictRedactor().text(around.format(shape))
    secret = shape.rsplit(" ", 1)[-1].strip("'\"") if "BEGIN" not in shape else "abc"
    middle = secret[len(secret) // 2 - 4 : len(secret) // 2 + 4]
    assert middle not in became, became
    assert MARK in became or "https://h/x" in became


def clean_values() -> list[str]:
    """Over a thousand values without a secret: uuids, hashes, record ids, paths, versions, lines of code."""
    source = random.Random(11)
    values: list[str] = []
    for n in range(150):
        data = str(n).encode()
        values += [
            str(uuid.UUID(int=source.getrandbits(128))),
            hashlib.sha256(data).hexdigest(),
            hashlib.sha1(data).hexdigest(),
            hashlib.md5(data).hexdigest(),
            "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
            f"toolu_01{drawn(22, seed=n)}",
            f"msg_01{drawn(22, seed=n)}",
            f"call_{drawn(24, seed=n)}",
            f"req_011C{drawn(20, seed=n)}",
            f"chatcmpl-{drawn(29, seed=n)}",
            f"/srv/data/{drawn(8, string.ascii_lowercase, n)}/part-{n:05d}.parquet",
            f"2025-11-{n % 28 + 1:02d}T10:00:00.{n:06d}Z",
            f"pkg-{n}.{n % 7}.{n % 3}",
        ]
    return values


CODE = """
token = get_token()
token = next(tokens)
self.token = token
api_key = os.environ["API_KEY"]
api_key=os.getenv("OPENAI_API_KEY")
client = Client(api_key=api_key, password=password)
def login(user: str, password: str, token: str | None = None) -> bool:
password: string;
token?: string;
const token = await fetchToken(req);
"password": "<your-password>"
export TOKEN=${CI_TOKEN}
curl -H "X-Api-Key: $API_KEY" https://h
PASSWORD=****
secret: null
token: true
"max_tokens": 4096, "input_tokens": 12, "token_count": 9
usage.completion_tokens += chunk.tokens
for token in tokens:
    print(token, key, value)
if token is None or token == "":
assert response.headers["authorization"] == expected
headers = {"Authorization": f"Bearer {token}"}
parser.add_argument("--token", help="the token to use")
docker run -u 1000:1000 image
secret_name: DB_PASSWORD
password = getpass.getpass("Password: ")
The token count is 5 and the basic usage is simple.
See the Authorization header, and the cookie banner.
uses: actions/checkout@v4
key: value
primary_key: id
cache_key = f"{name}:{version}"
git clone git@github.com:a/b.git
sorted(items, key=lambda item: item.token)
next_page_token = page.nextPageToken
private_key_path = "/etc/ssl/private/server.key"
"tokenizer": "cl100k_base", "stop_token": "<|end|>"
Tokens: 120k (password reset: optional)
identifiers[token] = struct{}{}
a GitHub token (optional): who has one
a bearer token, bearer credentials and basic end-to-end tests
export GITHUB_TOKEN=ghp_your_token_here
export API_KEY=sk-...
run --pwd '/srv/data/x' --shell fish
""".strip().splitlines()


def test_clean_values_stay() -> None:
    """1,950 ids, hashes, paths and times are left, bare and in an object."""
    values = clean_values()
    assert len(values) > 1000
    redactor = StrictRedactor()
    redactor.learn(values)
    assert redactor.value(values) == values
    assert redactor.value({"id": values, "digest": values[1]}) == {"id": values, "digest": values[1]}
    assert redactor.counts == {}


@pytest.mark.parametrize("line", CODE)
def test_code_stays(line: str) -> None:
    """A line of code, settings or prose that only speaks of credentials is left."""
    assert StrictRedactor(keeps_prose=True).text(line) == line


def test_this_project_stays() -> None:
    """Of the lines of this project's own library, fewer than 1 in 1,000 are changed."""
    import sessionlab

    lines = [
        line
        for path in Path(sessionlab.__file__).parent.rglob("*.py")
        if "redaction" not in path.parts
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    redactor = StrictRedactor()
    changed = [line for line in lines if redactor.text(line) != line]
    assert len(lines) > 10_000
    assert len(changed) < len(lines) / 1000, changed
