import base64
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.secrets import (
    RULES,
    by_length,
    find_secrets,
    is_secret_name,
    is_secret_variable,
    may_name_secret,
    replace_secrets,
    secret_values,
    unfinished,
)

HEX = "0123456789abcdef"
MIXED = "0123456789abcdefABCDEFGHIJKLMNOPQRSTUVWXYZghijkl"
NUMBER = base64.urlsafe_b64encode(b"123456789012345678").decode()

# Put together here, so that no scanner takes this file for a leak. The text around is kept.
SECRETS = {
    "openai": ("api-key", "", "sk-" + "proj-" + MIXED, ""),
    "anthropic": ("api-key", "", "sk-" + "ant-api03-" + MIXED, ""),
    "github": ("api-key", "", "ghp_" + MIXED[:36], ""),
    "github, server": ("api-key", "", "ghs_" + MIXED[:36], ""),
    "github, fine-grained": ("api-key", "", "github_pat_" + "11ABC_" + MIXED, ""),
    "aws": ("api-key", "", "AKIA" + "IOSFODNN7EXAMPLE", ""),
    "aws, temporary": ("api-key", "", "ASIA" + "IOSFODNN7EXAMPLE", ""),
    "aws, secret": ("api-key", "aws_secret_access_key = ", "wJalr/K7MDENG+" + MIXED[:26], ""),
    "aws, JSON": ("api-key", '"SecretAccessKey": "', "wJalr/K7MDENG+" + MIXED[:26], '"'),
    "aws, variable": ("api-key", "AWS_SECRET_ACCESS_KEY=", "wJalr/K7MDENG+" + MIXED[:26], ""),
    "google": ("api-key", "", "AIza" + "0123456789abcdefABCDEF0123456789abc", ""),
    "slack": ("api-key", "", "xoxb-" + "1234567890-abcdef", ""),
    "slack, app": ("api-key", "", "xapp-" + "1-A012-345-" + HEX, ""),
    "gitlab": ("api-key", "", "glpat-" + "0123456789abcdefABCD", ""),
    "npm": ("api-key", "", "npm_" + MIXED[:36], ""),
    "pypi": ("api-key", "", "pypi-" + "AgEIcHlwaS5vcmc" + MIXED, ""),
    "huggingface": ("api-key", "", "hf_" + MIXED[:34], ""),
    "stripe": ("api-key", "", "sk_" + "live_0123456789abcdefABCDEF", ""),
    "stripe, restricted": ("api-key", "", "rk_" + "live_0123456789abcdefABCDEF", ""),
    "twilio": ("api-key", "", "SK" + HEX * 2, ""),
    "sendgrid": ("api-key", "", "SG." + MIXED[:22] + "." + MIXED[:43], ""),
    "digitalocean": ("api-key", "", "dop_v1_" + HEX * 4, ""),
    "groq": ("api-key", "", "gsk_" + MIXED + "mnop", ""),
    "xai": ("api-key", "", "xai-" + MIXED + MIXED[:32], ""),
    "databricks": ("api-key", "", "dapi" + HEX * 2, ""),
    "vault": ("api-key", "", "hvs." + MIXED, ""),
    "azure, storage": ("api-key", "AccountName=x;AccountKey=", MIXED * 2 + "==", ";Endpoint=y"),
    "azure, bus": ("api-key", "SharedAccessKey=", MIXED[:43] + "=", ""),
    "azure, application": ("api-key", "abC", "8Q~" + MIXED[:34], ""),
    "stripe, web hook": ("api-key", "", "whsec_" + MIXED, ""),
    "linear": ("api-key", "", "lin_api_" + MIXED[:40], ""),
    "notion": ("api-key", "", "ntn_" + MIXED[:46], ""),
    "figma": ("api-key", "", "figd_" + MIXED[:40], ""),
    "atlassian": ("api-key", "", "ATATT3" + "xFfGF0" + MIXED, ""),
    "tailscale": ("api-key", "", "tskey-auth-" + "kAbCdEf1CNTRL-" + MIXED[:32], ""),
    "google, client": ("api-key", "client_secret=", "GOCSPX-" + MIXED[:28], ""),
    "google, access": ("api-key", "", "ya29." + "a0AfH6_-" + MIXED, ""),
    "shopify": ("api-key", "", "shpat_" + HEX * 2, ""),
    "supabase": ("api-key", "", "sbp_" + (HEX * 3)[:40], ""),
    "postman": ("api-key", "", "PMAK-" + (HEX * 2)[:24] + "-" + (HEX * 3)[:34], ""),
    "new relic": ("api-key", "", "NRAK-" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ0", ""),
    "replicate": ("api-key", "", "r8_" + MIXED[:37], ""),
    "age": ("api-key", "", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN5" * 3, ""),
    "slack, web hook": (
        *("api-key", "https://hooks.slack.com/services/"),
        *("T01234567/B01234567/" + MIXED[:24], ""),
    ),
    "discord, web hook": (
        *("api-key", "https://discord.com/api/webhooks/123456789012345678/"),
        *((MIXED + MIXED)[:68], ""),
    ),
    "npm, configuration": ("token", "//registry.npmjs.org/:_authToken=", MIXED[:36], ""),
    "jwt": ("token", "", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED, ""),
    "telegram": ("token", "bot1234567890:", "AA" + MIXED[:33], ""),
    "discord": ("token", NUMBER + ".", "GhIjKl." + MIXED[:38], ""),
    "bearer": ("token", "Authorization: Bearer ", "abcdefghij0123456789xyz", ""),
    "bearer, small": ("token", "authorization: bearer ", "abcdefghij0123456789xyz", ""),
    "basic": ("password", "Authorization: Basic ", base64.b64encode(b"me:hunter2").decode(), ""),
    "database": ("password", "postgres://me:", "hunter2!", "@db.example/x"),
    "redis": ("password", "redis://:", "hunter2!", "@db.example/x"),
    "password, JSON": ("password", '"password": "', "hunter2", '"'),
    "password, close": ("password", '"db_password":"', "tr0ub4dor&3", '",'),
    "password, escaped": ("password", '{\\"password\\": \\"', "hunter2", '\\"}'),
    "password, YAML": ("password", "  password: ", "hunter2", "\nuser: me"),
    "password, quoted": ("password", "  db_passwd: '", "hunter2", "'  # mine"),
    "private key": (
        "private-key",
        "",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----",
        "",
    ),
    "private key, PGP": (
        "private-key",
        "",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----",
        "",
    ),
}
ASSIGNED = [
    ("DB_PASSWORD=", "correct-horse-battery", ""),
    ("export API_TOKEN=", "abcdefgh12345678", ""),
    ('STRIPE_SECRET="', "abcdefgh12345678", '"  # live'),
    ("SECRET_KEY='", "abcdefgh12345678", "'"),
    (".env:3:DB_PASSWORD=", "correct-horse-battery", "\r"),
    ('SECRET_KEY = "', "abcdefgh12345678", '"'),
    ("A_KEY=foofoofo,B_KEY='", "secretsecret", "'"),
    ('client_secret: "', "correct@horse", '"'),
    ("api_key: ", "abcdef0123456789", ""),
    ('"apiKey": "', "abcdef0123456789", '"'),
    ("password=", "hunter2hunter2", ""),
    ("spring.datasource.password = ", "hunter2hunter2", "\r"),
    ("passwd='", "hunter2hunter2", "'"),
    ("api_key=", "Xk29plqZz81aa", "  # live"),
    ("auth_token=", "Xk29plqZz81aa", ""),
]
HARMLESS = [
    "password = get_password(user)",
    "API_KEY=${OPENAI_API_KEY}",
    "API_KEY=<your key here>",
    "API_KEY=your-api-key-here",
    "SECRET_KEY=changeme",
    'TOKEN = "access_token"',
    "KEY = settings.secret_value",
    "MAX_TOKENS=100000000",
    "api_key = os.environ['API_KEY']",
    "sk-learn-is-a-library-of-python",
    "a task-management-system-of-some-size",
    "https://example.com:8080/a@b",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "PRIMARY_KEY=id",
    "eyJ is how it begins",
    "Basic authentication is on",
    "Bearer of bad news",
    '"password": "Password"',
    '"password": "forms.password-label"',
    "password: string;",
    "password = 'hunter2hunter2'",
    'login(user="a", password="hunter2hunter2")',
    "password == hunter2hunter2",
    "password=$PASSWORD1",
    "password = data2['x1']",
    "max_tokens=150000",
    "token=your-token-1",
    "password: str = Field(min_length=8)",
    "  password: ${DB_PASSWORD}",
    "  password: required",
    '"secret": "your-secret-1"',
    "xapp-store",
    "amplifier_tui_one_of_these.events.a_name_of_many_letters_and_words",
]


def shown(text: str, rules: tuple[str, ...] = ("secrets",)) -> str:
    return replace_secrets(text, lambda secret, kind: f"[{kind}]", rules)


@pytest.mark.parametrize("name", SECRETS)
def test_published_formats_are_found_and_nothing_around_them(name: str) -> None:
    kind, before, secret, after = SECRETS[name]
    for left, right in (("", ""), ("a ", " b"), ('{"x": "', '"}'), ("x\\n", "\\n"), ("(", ")\n")):
        text = f"{left}{before}{secret}{after}{right}"
        assert shown(text) == f"{left}{before}[{kind}]{after}{right}", text


@pytest.mark.parametrize("before,secret,after", ASSIGNED)
def test_values_in_lines_and_fields_are_found(before: str, secret: str, after: str) -> None:
    text = f"first\n{before}{secret}{after}\nlast"
    assert shown(text, ("assignments",)) == f"first\n{before}[value]{after}\nlast"
    assert shown(text) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_words_code_and_examples_are_no_secrets(text: str) -> None:
    assert shown(text, ("secrets", "assignments")) == text


def test_addresses_and_numbers_of_people() -> None:
    text = "me@home.org +49 170 1234567"
    assert shown(text, ("pii",)) == "[e-mail] [phone]"
    assert shown(text, RULES) == "[e-mail] [phone]"
    long = "x" * 8_185 + " me@home.org " + "y" * 70_000 + " you@home.org"
    assert shown(long, ("pii",)).count("[e-mail]") == 2


def test_what_is_found_twice_is_one_finding_of_the_first_kind() -> None:
    key = SECRETS["openai"][2]
    assert shown(f"API_KEY={key}", RULES) == "API_KEY=[api-key]"
    assert shown(f"https://me:{key}@host", RULES) == "https://me:[api-key]@host"
    assert [kind for _, _, kind in find_secrets(f"{key} {key}")] == ["api-key", "api-key"]


def test_a_private_key_that_was_cut_off_goes_to_the_end() -> None:
    private = SECRETS["private key"][2]
    assert shown(f"a\n{private[:60]}") == "a\n[private-key]"
    assert shown(f"a\n{private}\nb\n{private}\nc") == "a\n[private-key]\nb\n[private-key]\nc"


def test_a_marker_may_leave_a_secret_where_it_is() -> None:
    key = SECRETS["aws"][2]
    assert replace_secrets(f"x {key}", lambda secret, kind: None) == f"x {key}"


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "API-KEY", "x-api-key", "client_secret", "clientSecret", "password"),
        *("access_token", "Authorization", "cookie", "set-cookie", "GITHUB_TOKEN", "credential"),
    ],
)
def test_names_of_secret_fields(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "author", "key", "tokenizer", "id", "", 3, None])
def test_names_of_other_fields(name: object) -> None:
    assert not is_secret_name(name)


def test_a_json_text_is_searched_for_names_of_secrets() -> None:
    assert may_name_secret('{"a": 1, "x-Auth-Token": 2}')
    assert not may_name_secret('{"a": "token", "max_tokens": 3}')


def test_values_of_secret_variables_are_known_the_longest_first() -> None:
    variables = {
        "A_TOKEN": "plain-words",
        "OPENAI_API_KEY": "plain-words-and-more",
        "MY_APIKEY_2": "the-third",
        "NO_SECRET": "not-needed",
        "SHORT_KEY": "abc",
        "PATH": "/usr/local/bin",
    }
    assert secret_values(variables) == ("plain-words-and-more", "plain-words", "the-third")
    assert is_secret_variable("DB_PASSWD") and not is_secret_variable("KEYBOARD")
    for name in ("PGPASSWORD", "MYSQL_PWD", "SSHPASS", "SMTP_PASS", "GH_PAT", "SECRET_KEY_BASE"):
        assert is_secret_variable(name), name
    assert is_secret_variable("MY_KEY_0") and not is_secret_variable("GIT_CONFIG_KEY_0")
    for name in ("PWD", "OLDPWD", "SSH_ASKPASS", "PGPASSFILE", "PATH", "PATTERN", "INIT_CWD"):
        assert not is_secret_variable(name), name
    assert by_length(["UNUSED", "12345678"]) == ("12345678",)


_MANY = 1_000_000
_PIECES = [
    *("sk-", "sk-a-", "sk_live_", "ghp_", "eyJ", "eyJaaaaaaaaaaaa.", "AKIA", "xapp-", "SG.", "."),
    *("8Q~", ":AA", "12345678:AA", "Bearer ", "Bearer a", "Basic ", "basic QUJD", "://", "://a:"),
    *("-----BEGIN PRIVATE KEY-----\n", "-----BEGIN A ", "-----END A PRIVATE KEY-----"),
    *("KEY", "KEY=", "A_KEY=", "A_KEY=a,", "A_KEY=aaaaaaaa'", "A_KEY='aaaaaaaa", "KEY0", "KEY = '"),
    *(
        "password",
        "password:",
        'password": "',
        "secret_",
        "api_key: a",
        "AccountKey=",
        "AccountKey",
    ),
    *(
        "secret_access_key=",
        "a@",
        "a.",
        "a@b.",
        "+1 ",
        "+1111",
        "+12 (34) ",
        "a",
        "1",
        "_",
        " ",
        "\n",
    ),
    *("DB_PASSWORD=hunter2hunter2\n", "dapi", "hvs.", "xai-", "MTIzNDU2Nzg5MDEyMzQ1Njc4."),
]


@pytest.mark.parametrize("piece", _PIECES)
def test_any_text_of_a_megabyte_takes_a_second_at_most(piece: str) -> None:
    text = (piece * (_MANY // len(piece) + 1))[:_MANY]
    started = time.thread_time()
    find_secrets(text, RULES)
    assert time.thread_time() - started < 1.5


def longest_wait(text: str) -> float:
    """How long this thread waited at most while another looked for secrets."""
    longest = 0.0
    done = threading.Event()
    worker = threading.Thread(target=lambda: (find_secrets(text, RULES), done.set()))
    worker.start()
    last = time.perf_counter()
    while not done.is_set():
        time.sleep(0)
        now = time.perf_counter()
        longest = max(longest, now - last)
        last = now
    worker.join()
    return longest


@pytest.mark.parametrize("piece", ["sk-", "a", "A_KEY=", "eyJ", "a@b.", "+1 "])
def test_other_threads_are_not_held_up(piece: str) -> None:
    text = piece * (_MANY // len(piece))
    # 0.05 on a machine of one's own; tests share theirs, so the best of a few counts.
    assert any(longest_wait(text) < 0.15 for _ in range(5))


@given(st.text(), st.sampled_from(sorted(SECRETS)), st.text())
def test_no_surroundings_let_a_secret_through(before: str, name: str, after: str) -> None:
    # A letter or digit beside it makes another word of it, a hyphen a longer key.
    _, left, secret, right = SECRETS[name]
    assert secret not in shown(f"{before} {left}{secret}{right} {after}")


_WORDS = st.sampled_from([*(_PIECES), *(s[2] for s in SECRETS.values()), "x", '"', "'", " ", "=8"])


@given(st.lists(_WORDS | st.text(max_size=5), max_size=12).map("".join))
def test_findings_never_overlap(text: str) -> None:
    found = find_secrets(text, RULES)
    assert all(one[1] <= two[0] for one, two in pairwise(found))
    assert all(start < end for start, end, _ in found)


@given(st.text())
def test_twice_is_as_good_as_once(text: str) -> None:
    once = shown(text, RULES)
    assert shown(once, RULES) == once


def streamed(text: str, cuts: list[int]) -> str:
    """What is shown of a text that comes in pieces."""
    shown_so_far = held = ""
    for start, end in pairwise([0, *sorted(cuts), len(text)]):
        held += text[start:end]
        cut = len(held) - unfinished(held)
        shown_so_far, held = shown_so_far + shown(held[:cut]), held[cut:]
    return shown_so_far + shown(held)


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_is_shown_in_two_halves(name: str) -> None:
    _, before, secret, after = SECRETS[name]
    text = f"It is {before}{secret}{after} and no more."
    for cut in range(len(text)):
        assert streamed(text, [cut]) == shown(text), text[:cut]
    assert streamed(text, list(range(len(text)))) == shown(text)


@given(st.text(), st.sampled_from(sorted(SECRETS)), st.text(), st.data())
def test_no_cut_lets_a_secret_through(before: str, name: str, after: str, data: st.DataObject):
    _, left, secret, right = SECRETS[name]
    text = f"{before} {left}{secret}{right} {after}"
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    result = streamed(text, cuts)
    assert secret not in result
    assert streamed(before, cuts and [0]) == shown(before)


@pytest.mark.parametrize("text", ["", "It is ", "risk", "the end.", "sky", "No", "Making", "a-c"])
def test_prose_is_not_held_back(text: str) -> None:
    assert unfinished(text) == 0
