import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_tui.base.secrets import is_secret_name
from amplifier_tui.host.redaction import REDACTED, Redactor

SECRET = "tr0ub4dor&3-horse"


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({"OPENAI_API_KEY": SECRET, "PATH": "/usr/bin", "SHORT_TOKEN": "abc"})


def test_names_of_secrets_are_known() -> None:
    names = "api_key API-KEY x-api-key client_secret password access_token Authorization cookie"
    for name in (*names.split(), "GITHUB_TOKEN", "private_key"):
        assert is_secret_name(name), name


@pytest.mark.parametrize("name", ["max_tokens", "input_tokens", "author", "key", "tokenizer", "id"])
def test_names_of_other_things_are_left_alone(name: str) -> None:
    assert not is_secret_name(name)


def test_fields_with_a_secret_name_lose_their_value(redactor: Redactor) -> None:
    data = {"api_key": "anything", "n": [{"password": "x", "max_tokens": 5}], "token": None}
    assert json.loads(redactor.json(data)) == {
        "api_key": REDACTED,
        "n": [{"password": REDACTED, "max_tokens": 5}],
        "token": None,
    }


def test_values_of_the_environment_are_found_anywhere(redactor: Redactor) -> None:
    assert redactor.text(f"key={SECRET}!") == f"key={REDACTED}!"
    assert SECRET not in redactor.json({"note": f"it is {SECRET}"})
    assert redactor.text("PATH is /usr/bin, abc") == "PATH is /usr/bin, abc"


def test_values_with_quotes_are_found_in_json() -> None:
    secret = 'quo"te\\and more'
    redactor = Redactor({"MY_SECRET": secret})
    assert json.loads(redactor.json({"a": secret})) == {"a": REDACTED}


def test_values_of_a_configuration_are_known_after_it_was_seen(redactor: Redactor) -> None:
    redactor.add_config({"providers": [{"config": {"api_key": "from-the-bundle-1"}}]})
    assert redactor.text("from-the-bundle-1") == REDACTED


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-" + "a1" * 20,
        "sk-proj-" + "Ab1" * 15,
        "ghp_" + "a" * 36,
        "AKIA" + "ABCD1234EFGH5678",
    ],
)
def test_well_known_keys_are_recognised_by_their_shape(key: str) -> None:
    assert Redactor({}).text(f"use {key} now") == f"use {REDACTED} now"


@pytest.mark.parametrize(
    "text", ["a task-management-system-of-some-size", "sk-learn-and-other-things", "risk-free"]
)
def test_ordinary_words_are_no_keys(text: str) -> None:
    assert Redactor({}).text(text) == text


def test_a_stored_conversation_stays_what_it_was_but_for_known_values(
    redactor: Redactor,
) -> None:
    row = {"role": "user", "content": [{"token": "mine", "text": "hi"}]}
    assert redactor.values(row) is row
    assert redactor.values({"a": [SECRET, 1]}) == {"a": [REDACTED, 1]}


def test_the_beginning_of_a_secret_is_held_back(redactor: Redactor) -> None:
    assert redactor.unfinished(f"text {SECRET[:6]}") == 6
    assert redactor.unfinished(f"text {SECRET}") == 0
    assert redactor.unfinished("text t") == 1, "a piece may bring no more"
    assert redactor.unfinished("text tr") == 2
    assert redactor.unfinished("text") == 0, "the last letter of a word"


@given(
    value=st.sampled_from(
        ["very-secret-value-123", "x://y:secret", "letters-SK", "12345678:A", "hush sk-h"]
    ),
    before=st.sampled_from(["", "it is ", "password: ", "Bearer ", "a\n"]),
    cuts=st.lists(st.integers(0, 60), max_size=6),
)
@example(value="very-secret-value-123", before="it is ", cuts=[3])
def test_a_known_value_is_never_shown_however_a_stream_is_cut(
    value: str, before: str, cuts: list[int]
) -> None:
    redactor = Redactor({"MY_API_KEY": value})
    text = f"{before}{value} and on"
    shown = waiting = ""
    for start, end in pairwise([0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]):
        waiting += text[start:end]
        ready = len(waiting) - redactor.unfinished(waiting)
        shown, waiting = shown + redactor.text(waiting[:ready]), waiting[ready:]
    shown += redactor.text(waiting)
    assert value not in shown
    assert shown.endswith(" and on")


def test_what_json_has_no_form_for_is_told_as_text(redactor: Redactor) -> None:
    circular: dict[str, object] = {}
    circular["me"] = circular
    assert "unreadable" in json.loads(redactor.json(circular))
    assert json.loads(redactor.json({"a": {1, 2}}))["a"]


def test_a_secret_that_was_cut_off_leaves_the_rest_of_the_json() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIE"
    text = Redactor({}).json({"a": f"x {key}", "b": 1, f"ghp_{'a1' * 18}": f"\nghp_{'b2' * 18}"})
    assert json.loads(text) == {"a": f"x {REDACTED}", "b": 1, REDACTED: f"\n{REDACTED}"}


def test_a_secret_of_digits_is_no_part_of_a_number() -> None:
    text = Redactor({"MY_KEY": "00000000"}).json({"a": 976562500000000, "b": "x00000000"})
    assert json.loads(text) == {"a": 976562500000000, "b": f"x{REDACTED}"}
    assert json.loads(Redactor({"MY_KEY": "12345678"}).json([12345678])) == [REDACTED]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_JSON, st.text(min_size=8).filter(lambda t: t.strip()))
def test_no_secret_survives_and_json_stays_json(data: object, secret: str) -> None:
    redactor = Redactor({"THE_SECRET": secret})
    text = redactor.json({"data": data, "leak": f"<{secret}>"})
    assert f"<{secret}>" not in json.loads(text)["leak"]
