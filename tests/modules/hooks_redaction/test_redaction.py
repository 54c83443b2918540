from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.capabilities.prompt_redaction import CAPABILITY
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.modules import hooks_redaction
from amplifier_tui.modules.hooks_redaction import RedactionHook, RedactionSettings

# Put together here, so that no scanner takes this file for a leak.
KEYS = {
    "openai": "sk-" + "proj-0123456789abcdefABCDEF",
    "anthropic": "sk-" + "ant-api03-0123456789abcdefABCDEF",
    "github": "ghp_" + "0123456789abcdefABCDEF0123456789abcd",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "google": "AIza" + "0123456789abcdefABCDEF0123456789abc",
    "slack": "xoxb-" + "1234567890-abcdef",
    "gitlab": "glpat-" + "0123456789abcdefABCD",
    "stripe": "sk_" + "live_0123456789abcdefABCDEF",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0",
}
PRIVATE = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----"


class Session:
    def __init__(self) -> None:
        self.coordinator = ModuleCoordinator()
        self.logged: list[tuple[str, dict[str, Any]]] = []
        self.notices: list[str] = []

    async def mount(self, **config: Any) -> "Session":
        await hooks_redaction.mount(self.coordinator, config)
        return self

    async def result(self, output: Any, tool: str = "read_file", **more: Any) -> Any:
        """What the model gets of a tool's output."""
        result = {"success": True, "output": output}
        data = {"tool_name": tool, "tool_input": {}, "result": result, "tool_result": result}
        answer = await self.coordinator.hooks.emit("tool:post", {**data, **more})
        assert answer.data is not None
        assert answer.data["result"] == answer.data["tool_result"]
        return answer.data["result"]["output"]

    async def event(self, event: str, **data: Any) -> dict[str, Any]:
        answer = await self.coordinator.hooks.emit(event, data)
        return answer.data or {}


async def test_it_is_found_by_its_id_and_unregisters_itself():
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("hooks-redaction", {})
    cleanup = await mount(coordinator)
    assert coordinator.hooks.list_handlers("tool:post") == {"tool:post": ["hooks-redaction"]}
    cleanup()
    assert not any(coordinator.hooks.list_handlers().values())


@pytest.mark.parametrize("kind", KEYS)
async def test_keys_of_known_formats_do_not_reach_the_model(kind: str):
    session = await Session().mount()
    for text in (
        KEYS[kind],
        f"a {KEYS[kind]} b",
        f'{{"key": "{KEYS[kind]}"}}',
        f"x={KEYS[kind]}\n",
    ):
        found = await session.result(text)
        assert KEYS[kind] not in found and "[REDACTED:" in found, text


async def test_private_keys_passwords_in_addresses_and_bearer_tokens():
    session = await Session().mount()
    assert await session.result(f"a\n{PRIVATE}\nb") == "a\n[REDACTED:private-key]\nb"
    assert await session.result(PRIVATE[:60]) == "[REDACTED:private-key]"
    assert (
        await session.result("postgres://me:hunter2!@db.example/x")
        == "postgres://me:[REDACTED:password]@db.example/x"
    )
    bearer = "Authorization: Bearer abcdefghij0123456789xyz"
    assert await session.result(bearer) == "Authorization: Bearer [REDACTED:token]"


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD=correct-horse-battery",
        "export API_TOKEN=abcdefgh12345678",
        'STRIPE_SECRET="abcdefgh12345678"  # live',
        "SECRET_KEY='abcdefgh12345678'",
        "    12\tDB_PASSWORD=correct-horse-battery",
        ".env:3:DB_PASSWORD=correct-horse-battery",
        'SECRET_KEY = "abcdefgh12345678"',
        "DB_PASSWORD=correct-horse-battery\r",
    ],
)
async def test_values_in_lines_of_an_environment_file_are_kept_back(line: str):
    found = await (await Session().mount()).result(f"before\n{line}\nafter\n")
    assert "[REDACTED:value]" in found
    assert "correct-horse" not in found and "abcdefgh" not in found
    assert found.startswith("before\n") and found.endswith("\nafter\n")


@pytest.mark.parametrize(
    "text",
    [
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
        "https://example.com:8080/a@b",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "PRIMARY_KEY=id",
        "eyJ is how it begins",
    ],
)
async def test_code_and_examples_stay_as_they_are(text: str):
    assert await (await Session().mount()).result(text) == text


async def test_values_of_secret_variables_are_kept_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "plain-words-only")
    monkeypatch.setenv("SOME_PATH", "not-secret-at-all")
    session = await Session().mount()
    found = await session.result("plain-words-only and not-secret-at-all")
    assert found == "[REDACTED:api-key] and not-secret-at-all"
    monkeypatch.setenv("LATER_API_KEY", "given-while-it-runs")
    assert "given-while-it-runs" not in await session.result("x given-while-it-runs")


async def test_what_a_tool_is_called_with_is_never_changed():
    session = await Session().mount()
    given = {"content": KEYS["openai"]}
    answer = await session.coordinator.hooks.emit(
        "tool:pre", {"tool_name": "write_file", "tool_input": given}
    )
    assert answer.action == "continue" and answer.data is not None
    assert answer.data["tool_input"] == given
    await session.result(KEYS["github"], tool_input=given)
    assert given == {"content": KEYS["openai"]}


async def test_later_hooks_get_events_without_secrets():
    session = await Session().mount()
    seen: list[dict[str, Any]] = []
    session.coordinator.hooks.register(
        "llm:request", lambda event, data: seen.append(data), priority=100
    )
    data = await session.event(
        "llm:request", api_key="short", nested=[{"x-auth-token": "y", "text": KEYS["aws"]}], n=3
    )
    assert seen[0]["api_key"] == "[REDACTED]" and data["api_key"] == "[REDACTED]"
    assert seen[0]["nested"] == [{"x-auth-token": "[REDACTED]", "text": "[REDACTED:api-key]"}]
    assert seen[0]["n"] == 3


async def test_fields_of_a_tools_answer_are_judged_by_their_value_only():
    session = await Session().mount()
    found = await session.result({"token": "NAME", "kind": "identifier"})
    assert found == {"token": "NAME", "kind": "identifier"}


async def test_ids_stay():
    session = await Session().mount(patterns=["[0-9a-f]{8}"])
    data = await session.event(
        "tool:error", session_id="deadbeef", tool_call_id="deadbeef", x="deadbeef"
    )
    assert (data["session_id"], data["tool_call_id"]) == ("deadbeef", "deadbeef")
    assert data["x"] == "[REDACTED:pattern]"


async def test_patterns_of_ones_own_with_and_without_a_name_and_a_group():
    session = await Session().mount(patterns={"ticket": r"ACME-(\d{4})", "who": r"Mr\. \w+"})
    found = await session.result("ACME-1234 by Mr. Smith")
    assert found == "ACME-[REDACTED:ticket] by [REDACTED:who]"


async def test_rules_can_be_chosen_and_texts_allowed():
    session = await Session().mount(rules=["pii"], allow=[r"@example\.com$"])
    text = f"me@home.org you@example.com +49 170 1234567 {KEYS['openai']}"
    found = await session.result(text)
    assert found == f"[REDACTED:e-mail] you@example.com [REDACTED:phone] {KEYS['openai']}"


async def test_prompts_are_left_to_the_user_unless_asked_for():
    session = await Session().mount()
    assert (await session.event("prompt:submit", prompt=KEYS["aws"]))["prompt"] == KEYS["aws"]
    strict = await Session().mount(prompts=True)
    assert (await strict.event("prompt:submit", prompt=KEYS["aws"]))[
        "prompt"
    ] == "[REDACTED:api-key]"


async def test_words_said_while_the_agent_works_are_changed_like_prompts():
    assert (await Session().mount()).coordinator.get_capability(CAPABILITY) is None
    coordinator = ModuleCoordinator()
    cleanup = await hooks_redaction.mount(coordinator, {"prompts": True})
    assert coordinator.get_capability(CAPABILITY)(f"a {KEYS['aws']}") == "a [REDACTED:api-key]"
    cleanup()
    assert coordinator.get_capability(CAPABILITY) is None


async def test_the_user_is_told_what_was_kept_back_once_a_result():
    session = await Session().mount()
    told: list[dict[str, Any]] = []
    session.coordinator.hooks.register("user:notification", lambda event, data: told.append(data))
    await session.result(f"{PRIVATE} {KEYS['openai']} {KEYS['github']}")
    (notice,) = told
    assert notice["message"] == (
        "Kept from the model: 1 private-key, 2 api-keys in what read_file said"
    )
    await session.result("nothing here")
    assert len(told) == 1
    quiet = await Session().mount(tell=False)
    quiet.coordinator.hooks.register("user:notification", lambda event, data: told.append(data))
    await quiet.result(KEYS["openai"])
    assert len(told) == 1


async def test_what_is_redacted_already_stays_so():
    session = await Session().mount()
    once = await session.result("DB_PASSWORD=correct-horse-battery")
    assert await session.result(once) == once


@pytest.mark.parametrize(
    "config",
    [
        {"rules": ["everything"]},
        {"rules": 3},
        {"patterns": ["("]},
        {"patterns": ["x*"]},
        {"patterns": 7},
        {"allow": ["["]},
        {"prompts": "yes"},
        {"priority": "first"},
    ],
)
async def test_a_mistake_in_the_config_is_told(config: dict[str, Any]):
    with pytest.raises(ValueError, match="hooks-redaction"):
        await hooks_redaction.mount(ModuleCoordinator(), config)


async def _nobody(event: str, data: dict[str, Any]) -> None:
    return None


@given(st.text(), st.sampled_from(sorted(KEYS)), st.text())
def test_no_surroundings_let_a_key_through(before: str, kind: str, after: str):
    # A letter or digit beside it makes another word of it, a hyphen a longer key.
    hook = RedactionHook(RedactionSettings.read({}), _nobody, {})
    text, kinds = hook.text(f"{before} {KEYS[kind]} {after}", [])
    assert KEYS[kind] not in text and kinds


@given(st.text(max_size=2_000))
def test_no_text_breaks_it_and_twice_is_as_good_as_once(text: str):
    hook = RedactionHook(
        RedactionSettings.read({"rules": ["secrets", "assignments", "pii"]}), _nobody, {}
    )
    once, _ = hook.text(text, [])
    assert hook.text(once, [])[0] == once
