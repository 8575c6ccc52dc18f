"""Lines of code and of English that speak of tokens, keys and passwords without holding one; ``{a}``, ``{n}`` vary."""

from __future__ import annotations

CODE = (
    "max_tokens: {n}",
    "password: str | None = None  # {a} {n}",
    "def get_token(self, {a}: int = {n}) -> str:",
    "secrets.token_hex({n})",
    "from {a}.auth import login_required  # {n}",
    "for key, value in {a}.items(): print(key, {n})",
    "self._keys[{n}] = {a}.key",
    "if not user.is_authenticated or {a} > {n}:",
    "def test_password_reset_{a}_{n}() -> None:",
    "api_key = os.environ['{a}_KEY_{n}']",
    "client = Client(api_key=get_key('{a}', {n}))",
    "password = getpass.getpass('{a} {n}: ')",
    "assert len(tokens) == {n}, {a}",
    "const secretName = process.env.{a}_NAME_{n};",
    "export PATH=$HOME/{a}/bin{n}:$PATH",
    "ENV {a}_PORT={n}",
    "CREATE TABLE {a} (id INT PRIMARY KEY, password_hash TEXT, n INT DEFAULT {n});",
    "SELECT key, COUNT(*) FROM {a} GROUP BY key HAVING COUNT(*) > {n};",
    "class TokenBucket({a}.Bucket): limit = {n}",
    "return sorted({a}, key=lambda row: row[{n}])",
    "parser.add_argument('--token-file', default='{a}{n}.txt')",
    "secret: ${{ secrets.{a}_{n} }}",
    "raise KeyError(f'no {a} number {n}')",
    "git commit -m 'Passwords are hashed in {a} now (#{n})'",
    "print(tokenizer.encode({a})[:{n}])",
    "let keypair = Keypair::generate({a}, {n});",
    "- uses: actions/{a}@v{n}",
    "headers = dict(accept='text/{a}', n={n})",
    "private_key_path: /etc/{a}/tls{n}.pem",
    "password_min_length: {n}  # {a}",
)
"""No scheme word (bearer, basic, token) is followed by white space here."""

PROSE = (
    "The {a} is {n} steps from the {b}.",
    "All {n} tests of the {a} pass; the {b} is next.",
    "Its password policy asks for {n} characters, says the {a}.",
    "A secret ballot was held in {a} hall, {n} votes in all.",
    "The key to the {a} is under mat {n}.",
    "Tokens cost more at {a}: {n} a day.",
    "She kept the {b} a secret for {n} days, {a} and all.",
    "Press any key {n} times, then open the {a}.",
    "Nobody resets passwords of the {a} after {n} o'clock.",
    "The cookie jar beside the {a} holds {n} biscuits.",
    "We are not authorised to enter {a} {n}.",
    "That argument is a keystone of chapter {n}, {a} said.",
    "Credentials are checked at the {a} gate, row {n}.",
    "Secretary {a} signed {n} letters today.",
    "It counts tokens, keys and secrets of the {a}: {n} of them.",
    "Passwords must never be logged, rule {n} of the {a} says.",
    "The monkey and the {a} walked {n} miles.",
    "Authorization is up to the {a}, see page {n}.",
)
"""No scheme word is followed by white space here."""

CODE_WITH_SCHEME_WORDS = (
    "token = next(tokens)  # {a} {n}",
    "author: Basic usage of {a} {n}",
    "if token in seen_{a}[{n}]:",
    "for token in tokenizer({a}): count += {n}",
    "token is not None and {a} < {n}",
    "class Token (Base): {a} = {n}",
    "basic = {a}.Basic (level={n})",
    "def bearer (self, {a}={n}): ...",
    "token := scanner.Next() // {a} {n}",
    "return token == {a}[{n}]",
)
"""A scheme word followed by white space stands in each."""

PROSE_WITH_SCHEME_WORDS = (
    "I think the token count of the {a} is {n}.",
    "The basic idea of {a} number {n} is to wait.",
    "Bearer of the {a} was boat {n}.",
    "Each token costs {n} cents at the {a}.",
    "We need basic usage notes for {a} {n}.",
    "The token expired after {n} minutes, so the {a} stopped.",
    "A basic {a} with {n} sails will do.",
    "It is a token gesture towards the {a}, {n} years late.",
    "The bearer token header is missing in {a} {n}.",
    "Set a token limit of {n} for the {a}.",
    "BASIC programs of {a} ran on {n} bytes.",
    "The {a} asks for basic authentication on port {n}.",
    "Take the token bucket near the {a}, it holds {n}.",
    "The secret token rotation of the {a} runs every {n} hours.",
    "Token counting in {a} takes {n} ms.",
)
"""A scheme word followed by white space stands in each."""
