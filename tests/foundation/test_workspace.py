import json
import sys
from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle.model import Origin
from amplifier_tui.foundation.checks.preview import PlannedFetch, PreviewAgent
from amplifier_tui.foundation.exceptions import BundleError, BundleNotFoundError, TrustRefusedError
from amplifier_tui.foundation.trust.keys.addresses import is_spare, key_variables, missing_keys
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import GitRepo, Recorder, allow, write
from tests.foundation.stacks import STACK

COMPLETE = (
    "session:\n"
    f"  orchestrator: {{module: fx-loop, source: {STACK / 'loop'}}}\n"
    f"  context: {{module: fx-context, source: {STACK / 'context'}}}\n"
    f"providers:\n  - {{module: fx-provider, source: {STACK / 'provider'},"
    " config: {default_model: fx-small-1}}\n"
)


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    (tmp_path / "proj").mkdir()
    return tmp_path / "proj"


def user_bundle(own_home: Path, name: str, text: str, body: str = "") -> Path:
    head = f"---\nbundle: {{name: {name}}}\n{text}---\n{body}"
    return write(own_home / ".amplifier" / "bundles" / f"{name}.md", head)


def user_settings(own_home: Path, text: str) -> Path:
    return write(own_home / ".amplifier" / "settings.yaml", text)


def workspace(project: Path, **environ: str) -> Workspace:
    return Workspace.open(project, environ=dict(environ))


async def test_every_bundle_is_listed_with_its_state(project: Path, own_home: Path) -> None:
    user_bundle(own_home, "fine", COMPLETE)
    without = COMPLETE.split("providers:")[0]
    keyless = "providers: [{module: p, config: {api_key: '${NO_SUCH}'}}]\n"
    user_bundle(own_home, "keyless", without + keyless)
    user_bundle(own_home, "keyless-part", f"includes: [nosuch]\n{without}{keyless}")
    user_bundle(own_home, "providerless", without)
    user_bundle(own_home, "part", "includes: [nosuch]\n")
    user_bundle(own_home, "far", f"includes: ['git+https://h.invalid/x@main']\n{COMPLETE}")
    module = "tools: [{module: tool-far, source: 'git+https://h.invalid/t@main'}]\n"
    user_bundle(own_home, "far-module", COMPLETE + module)
    broken = user_bundle(own_home, "broken", "tools:\n  - module: a\n  - oops\n")
    moduleless = user_bundle(own_home, "moduleless", f"tools:\n  - source: ./x\n{COMPLETE}")
    bundles = own_home / ".amplifier" / "bundles"
    nameless = write(bundles / "nameless.yaml", "tools: [{module: t}]\n")
    registered = {"uri": "git+https://h.invalid/ns@main", "name": "ns"}
    registry = json.dumps({"version": 1, "bundles": {"ns": registered}})
    write(own_home / ".amplifier" / "registry.json", registry)
    user_bundle(own_home, "far-part", f"includes: ['ns:part']\n{COMPLETE}")
    user_settings(own_home, "bundle: {added: {remote: 'git+https://h.invalid/r@main', lost: /no}}")
    found = {preview.name: preview for preview in await workspace(project).previews()}
    assert {name: preview.state for name, preview in found.items()} == {
        "broken": "invalid",
        "far": "not_fetched",
        "far-module": "not_fetched",
        "far-part": "not_fetched",
        "fine": "ready",
        "keyless": "needs_key",
        "keyless-part": "incomplete",
        "lost": "invalid",
        "moduleless": "invalid",
        "nameless": "invalid",
        "part": "invalid",
        "providerless": "needs_key",
        "remote": "not_fetched",
    }
    assert found["part"].error.startswith(
        "part has no session.orchestrator and no session.context. nosuch is left out: "
    )
    assert (found["broken"].error_path, found["broken"].error_line) == (broken, 5)
    assert f"{broken}:5" in found["broken"].error
    assert found["moduleless"].error == f"{moduleless}:4: tools[0]: Missing required 'module' field"
    assert (found["nameless"].error_path, found["nameless"].error_line) == (nameless, 1)
    assert found["far-part"].to_fetch[0].uri == "git+https://h.invalid/ns@main"
    assert found["keyless"].missing_keys == ("NO_SUCH",)
    assert "NO_SUCH" in found["keyless"].error
    assert found["keyless-part"].error.startswith("Would open without nosuch")
    assert found["keyless-part"].missing_keys == ("NO_SUCH",)
    assert "No provider" in found["providerless"].error
    assert found["far"].to_fetch == (
        PlannedFetch(
            "git+https://h.invalid/x@main", "git+https://h.invalid/x@main", "bundle", ("far",)
        ),
    )
    assert found["far-module"].to_fetch == (
        PlannedFetch("git+https://h.invalid/t@main", "tool-far", "module", ("far-module",)),
    )
    assert found["remote"].to_fetch[0].kind == "bundle"
    assert found["fine"].error == "" and found["fine"].origin == "user"


async def test_a_preview_tells_everything_and_runs_nothing(project: Path, own_home: Path) -> None:
    marker = project / "ran"
    evil = f"open({str(marker)!r}, 'w')\n"
    write(own_home / "m" / "amplifier_module_tool_evil" / "__init__.py", evil)
    write(own_home / "m" / "setup.py", evil)
    bundles = own_home / ".amplifier" / "bundles"
    write(bundles / "style.md", "s" * 400)
    write(bundles / "agents" / "helper.md", "---\nmeta: {description: 'helps\n  a lot'}\n---\nGo.")
    write(
        bundles / "base.yaml",
        f"bundle: {{name: base}}\ntools: [{{module: tool-evil, source: {own_home / 'm'}}}]\n",
    )
    complete = COMPLETE.replace("fx-small-1", "'${FX_MODEL:fx-large-1}'")
    user_bundle(
        own_home,
        "top",
        f"includes: [./base.yaml, ./gone.yaml]\n{complete}"
        "tools: [{module: nowhere, config: {k: '${UNSET}'}}]\n"
        "context: {include: [style.md, 'nobody:x.md']}\n"
        "agents: {include: [helper]}\n",
        "i" * 40,
    )
    before = set(sys.modules)
    preview = await workspace(project).preview("top")
    assert not marker.exists()
    assert not {name for name in set(sys.modules) - before if "evil" in name}
    assert (preview.state, preview.version, preview.origin) == ("incomplete", "1.0.0", "user")
    assert preview.error == "Would open without ./gone.yaml, nobody:x.md, nowhere"
    file = bundles / "top.md"
    assert [(each.kind, each.part, each.where.partition(":")[0]) for each in preview.report] == [
        ("failed", "include", str(file)),
        ("failed", "context", str(file)),
        ("failed", "tool", str(file)),
    ]
    assert all(each.owner == "user" and each.remedy for each in preview.report)
    modules = {module.module_id: module for module in preview.modules}
    assert [module.kind for module in preview.modules] == [
        "orchestrator",
        "context",
        "provider",
        "tool",
        "tool",
    ]
    assert modules["tool-evil"].origins == (Origin("base", "./base.yaml"),)
    assert modules["tool-evil"].state == "ready"
    assert modules["nowhere"].state == "missing" and "installed" in modules["nowhere"].problem
    assert modules["fx-provider"].detail == "fx-large-1"
    assert preview.agents == (PreviewAgent("helper", "helps a lot", True),)
    assert preview.context_files == ("@top:style.md",)
    assert [part.source_id for part in preview.prompt] == ["bundle:top", "file:@top:style.md"]
    assert preview.prompt[0].tokens == 10 and preview.base_tokens > 110
    assert preview.missing_variables == ("UNSET",)
    assert preview.unresolved_context == ("nobody:x.md",)
    assert [entry.source for entry in preview.skipped] == ["./gone.yaml"]
    assert list(preview.plan) == ["session", "providers", "tools", "agents"]
    assert not (own_home / ".amplifier" / "registry.json").exists()


async def test_a_preview_of_what_does_not_exist_is_invalid(project: Path) -> None:
    preview = await workspace(project).preview("nobody")
    assert (preview.state, preview.bundle) == ("invalid", None)
    assert "no bundle 'nobody'" in preview.error


async def test_a_preview_shows_no_secret_of_the_environment(project: Path, own_home: Path) -> None:
    user_bundle(own_home, "b", "providers: [{module: p, config: {api_key: '${K}'}}]\n")
    uri = "git+https://me:password@h.invalid/t@main"
    user_bundle(own_home, "c", f"tools: [{{module: t, source: '{uri}'}}]\nincludes: ['{uri}']\n")
    found = await workspace(project, K="sk-secret").previews()
    assert "sk-secret" not in str([preview.plan for preview in found])
    shown = [(preview.modules, preview.to_fetch, preview.error) for preview in found]
    assert "password" not in str(shown)
    assert found[0].state == "invalid", "it has no session"


async def test_what_is_built_in_takes_no_place_of_what_is_not_fetched_yet(
    project: Path, own_home: Path
) -> None:
    tool = "tools: [{module: tool-filesystem, source: 'git+https://h.invalid/t@main'}]\n"
    user_bundle(own_home, "b", COMPLETE + tool)
    preview = await workspace(project).preview("b")
    (module,) = [module for module in preview.modules if module.kind == "tool"]
    assert module.state == "not_fetched"
    assert preview.state == "not_fetched" and len(preview.to_fetch) == 1


async def test_a_bundle_takes_effect_with_settings_app_bundles_and_agents(
    project: Path, own_home: Path
) -> None:
    bundles = own_home / ".amplifier" / "bundles"
    write(bundles / "agents" / "a.md", "---\ndescription: d\ntools: [tool-x]\n---\nText.")
    app = "bundle: {name: app, version: 9}\ntools: [{module: extra}]\n"
    write(own_home / "app" / "app.yaml", f"{app}context: {{include: [c.md]}}\n")
    write(own_home / "app" / "c.md", "from the app")
    user_bundle(own_home, "b", "agents: {include: [a]}\ntools: [{module: t}]\n", "Main.")
    user_settings(
        own_home,
        "bundle: {app: [~/app/app.yaml, ./gone.yaml]}\n"
        "overrides: {tool-x: {config: {k: 1}}, t: {config: {k: 2}}}\n",
    )
    bundle = await workspace(project).load("b")
    assert (bundle.name, bundle.version, bundle.instruction) == ("b", "1.0.0", "Main.")
    assert bundle.tools == [{"module": "t", "config": {"k": 2}}, {"module": "extra"}]
    assert bundle.agents["a"]["tools"] == [{"module": "tool-x", "config": {"k": 1}}]
    assert bundle.context == {"app:c.md": own_home / "app" / "c.md"}
    assert bundle.origins["tool:extra"] == [Origin("app", "settings: bundle.app")]
    assert [entry.included_by for entry in bundle.skipped] == ["settings: bundle.app"]


async def test_includes_are_redirected_by_the_settings(project: Path, own_home: Path) -> None:
    write(own_home / "local.yaml", "bundle: {name: local}\ntools: [{module: mine}]\n")
    user_bundle(own_home, "b", "includes: ['git+https://github.com/o/r@main']\n")
    user_settings(own_home, f"sources: {{bundles: {{github.com/o/r: '{own_home}/local.yaml'}}}}\n")
    bundle = await workspace(project).load("b")
    assert (bundle.skipped, bundle.tools) == ([], [{"module": "mine"}])


async def test_a_prepared_bundle_runs_with_variables_and_keys(
    project: Path, own_home: Path
) -> None:
    text = COMPLETE.replace("default_model: fx-small-1", "api_key: '${FX_KEY}', url: '${U:local}'")
    user_bundle(own_home, "b", text)
    keys = write(own_home / ".amplifier" / "keys.env", 'FX_KEY="from the file"\n')
    keys.chmod(0o600)
    progress: list[str] = []
    ready = await workspace(project).prepare(
        "b", trust=allow, progress=lambda action, detail: progress.append(action)
    )
    assert ready.activation_failures == {}
    async with ready.create_session(session_cwd=project) as session:
        provider = session.coordinator.get("providers", "fx-provider")
        expected = {"api_key": "from the file", "url": "local"}
        assert provider.config == expected
        assert await session.execute("hello") == "echo: hello"
    assert ready.bundle.providers[0]["config"]["api_key"] == "${FX_KEY}"
    assert {"loading", "activating"} <= set(progress)


async def test_nothing_runs_without_trust_except_what_is_shipped(
    project: Path, own_home: Path
) -> None:
    user_bundle(own_home, "b", COMPLETE)
    refused = await workspace(project).prepare("b")
    assert set(refused.activation_failures) == {"fx-loop", "fx-context", "fx-provider"}
    shipped = Workspace.open(project, shipped=(STACK,), environ={})
    assert (await shipped.prepare("b")).activation_failures == {}
    recorder = Recorder("execute")
    await workspace(project).prepare("b", trust=recorder)
    assert {request.included_by for request in recorder.requests} == {("b",)}


async def test_shipped_bundles_leave_no_trace_in_the_shared_registry(
    project: Path, own_home: Path, tmp_path: Path
) -> None:
    write(tmp_path / "shipped" / "s.yaml", "bundle: {name: s}\n")
    user_bundle(own_home, "b", "")
    space = Workspace.open(project, shipped=(tmp_path / "shipped",), environ={})
    await space.load("s")
    assert not (own_home / ".amplifier" / "registry.json").exists()
    await space.load("b")
    data = json.loads((own_home / ".amplifier" / "registry.json").read_text())
    assert list(data["bundles"]) == ["b"]
    assert data["bundles"]["b"]["explicitly_requested"] is False


async def test_a_lock_pins_what_a_bundle_resolved_to(
    project: Path, own_home: Path, tmp_path: Path
) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: r, version: 1}"})
    module = GitRepo.create(
        tmp_path / "mod", {"pyproject.toml": "", "amplifier_module_t/__init__.py": ""}
    )
    tool = f"tools: [{{module: t, source: '{module.uri()}'}}]\n"
    user_bundle(own_home, "b", f"includes: ['{repo.uri()}']\n{tool}")
    recorder = Recorder()
    lock = await workspace(project).write_lock("b", trust=recorder)
    assert set(lock.sources) == {repo.uri(), module.uri()}
    assert set(recorder.actions) == {"fetch"}
    old = repo.git("rev-parse", "HEAD")
    repo.commit({"bundle.yaml": "bundle: {name: r, version: 1}\ntools: [{module: new}]\n"})
    import shutil

    shutil.rmtree(own_home / ".amplifier" / "cache")
    locked = await workspace(project).load("b", trust=allow)
    assert [tool["module"] for tool in locked.tools] == ["t"]
    assert lock.sources[repo.uri()].commit == old
    renewed = await workspace(project).write_lock("b", trust=allow)
    assert renewed.sources[repo.uri()].commit == repo.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "broken", [{"bundle.yaml": "bundle: {name: r\n"}, {"other.yaml": "bundle: {name: r}"}]
)
async def test_an_update_mends_what_was_fetched_with_a_mistake(
    project: Path, own_home: Path, tmp_path: Path, broken: dict[str, str]
) -> None:
    repo = GitRepo.create(tmp_path / "repo", broken)
    space = workspace(project)
    for _ in range(2):
        with pytest.raises(BundleError) as caught:
            await space.load(repo.uri(), trust=allow)
        assert f"bundle update {repo.uri()} fetches it anew" in caught.value.remedy
    with pytest.raises(BundleError):
        await space.update(repo.uri(), trust=allow)
    repo.commit({"bundle.yaml": "bundle: {name: r, version: 1}"})
    with pytest.raises(BundleError):
        await space.load(repo.uri(), trust=allow)
    await space.update(repo.uri(), trust=allow)
    assert (await space.load(repo.uri(), trust=allow)).name == "r"


async def test_what_is_missing_cannot_be_locked(project: Path, own_home: Path) -> None:
    user_bundle(own_home, "b", "includes: [./gone.yaml]\n")
    with pytest.raises(BundleError, match="Cannot lock"):
        await workspace(project).write_lock("b")
    user_bundle(own_home, "c", "tools: [{module: t, source: 'git+https://h.invalid/t@main'}]\n")
    with pytest.raises(TrustRefusedError):
        await workspace(project).write_lock("c")


async def test_broken_settings_keys_and_lock_are_problems_and_not_fatal(
    project: Path, own_home: Path
) -> None:
    user_bundle(own_home, "b", COMPLETE)
    user_settings(own_home, "a: [\n")
    write(own_home / ".amplifier" / "keys.env", "oops\n").chmod(0o600)
    write(project / ".amplifier" / "bundle.lock", "{\n")
    space = workspace(project)
    assert [problem.path.name for problem in space.problems] == [
        "settings.yaml",
        "keys.env",
        "bundle.lock",
    ]
    assert (await space.load("b")).name == "b"
    assert space.choose("b").entry.name == "b"


async def test_an_unknown_name_is_an_error(project: Path) -> None:
    for action in (workspace(project).load, workspace(project).prepare):
        with pytest.raises(BundleNotFoundError, match="no bundle 'nobody'"):
            await action("nobody")


def test_whether_a_provider_has_its_key_is_told_from_its_configuration() -> None:
    anthropic = {"module": "provider-anthropic"}
    openai = {"module": "provider-openai"}
    key = {"ANTHROPIC_API_KEY": "k"}
    assert missing_keys(anthropic, {}) == ["ANTHROPIC_API_KEY"]
    assert missing_keys(anthropic, {"ANTHROPIC_API_KEY": ""}) == ["ANTHROPIC_API_KEY"]
    assert missing_keys(anthropic, key) == []
    written = {**anthropic, "config": {"api_key": "${ANTHROPIC_API_KEY}"}}
    assert missing_keys(written, {}) == ["ANTHROPIC_API_KEY"]
    assert missing_keys(written, key) == []
    assert missing_keys({**anthropic, "config": {"api_key": "sk"}}, {}) == []
    local = {**openai, "config": {"base_url": "${URL:http://localhost:11434/v1}"}}
    assert missing_keys(local, {}) == []
    assert missing_keys(local, {"URL": "https://api.example.com"}) == ["OPENAI_API_KEY"]
    assert missing_keys({**openai, "config": {"base_url": "http://[bad"}}, {}) == ["OPENAI_API_KEY"]
    there = {"OPENAI_BASE_URL": "http://127.0.0.1:1234/v1"}
    assert missing_keys(openai, there) == []
    both = [written, openai]
    assert key_variables(both, "anthropic", {**key, "OPENAI_API_KEY": "k"}) == tuple(key)
    assert key_variables(both, "openai", key) == (), "a variable that is not set was not refused"
    assert key_variables(both, "another", key) == tuple(key)
    assert missing_keys(openai, {"OPENAI_BASE_URL": "https://far.example"}) == ["OPENAI_API_KEY"]
    gateway = {**anthropic, "config": {"base_url": "http://127.0.0.1:8080"}}
    assert missing_keys(gateway, {}) == ["ANTHROPIC_API_KEY"]
    assert missing_keys({"module": "provider-other"}, {}) == []
    assert missing_keys({"module": "provider-other", "config": {"k": "${X}"}}, {}) == ["X"]
    assert missing_keys({"module": "p", "config": None}, {}) == []


def test_a_provider_that_lacks_only_its_vendors_key_is_a_spare_one() -> None:
    openai = {"module": "provider-openai", "config": {"default_model": "m"}}
    assert is_spare(openai, {})
    assert is_spare({**openai, "config": {"api_key": "${MY_KEY}"}}, {})
    assert not is_spare(openai, {"OPENAI_API_KEY": "k"})
    assert not is_spare({**openai, "config": {"organization": "${ORG}"}}, {})
    assert not is_spare({**openai, "config": {"base_url": "https://gate.example"}}, {})
    assert not is_spare(openai, {"OPENAI_BASE_URL": "https://gate.example"})
    assert not is_spare({"module": "provider-other", "config": {"api_key": "${X}"}}, {})
    assert not is_spare({"module": "provider-openai", "config": {"organization": "${ORG}"}}, {})


PROVIDERS = "providers: [{module: provider-anthropic}, {module: provider-openai}]\n"


async def providers_of(project: Path, **keys: str) -> tuple[list[str], list[str]]:
    space = Workspace.open(project, environ=dict(keys))
    prepared = await space.prepare("b", trust=allow)
    unused = [f"{each.what}: {each.why}" for each in prepared.unused]
    return [entry["module"] for entry in prepared.mount_plan["providers"]], unused


async def test_of_several_providers_those_with_a_key_are_used(
    project: Path, own_home: Path
) -> None:
    user_bundle(own_home, "b", PROVIDERS)
    both = ["provider-anthropic", "provider-openai"]
    assert await providers_of(project) == (both, [])
    assert await providers_of(project, ANTHROPIC_API_KEY="k", OPENAI_API_KEY="k") == (both, [])
    assert await providers_of(project, OPENAI_API_KEY="k") == (
        ["provider-openai"],
        ["provider-anthropic: ANTHROPIC_API_KEY is not set"],
    )


async def test_a_provider_of_the_users_own_settings_stays_also_without_its_key(
    project: Path, own_home: Path
) -> None:
    user_bundle(own_home, "b", PROVIDERS)
    write(
        own_home / ".amplifier" / "settings.yaml",
        "config: {providers: [{module: provider-openai, config: {default_model: m}}]}\n",
    )
    used, unused = await providers_of(project, ANTHROPIC_API_KEY="k")
    assert (used, unused) == (["provider-anthropic", "provider-openai"], [])


async def test_a_provider_that_cannot_be_had_makes_no_other_one_superfluous(
    project: Path, own_home: Path
) -> None:
    gone = "{module: provider-gone, source: ./gone}"
    user_bundle(own_home, "b", f"providers: [{{module: provider-openai}}, {gone}]\n")
    assert await providers_of(project) == (["provider-openai", "provider-gone"], [])
    unset = "{module: provider-mock, config: {script: '${NO_SCRIPT}'}}"
    user_bundle(own_home, "b", f"providers: [{{module: provider-openai}}, {unset}]\n")
    assert await providers_of(project) == (["provider-openai", "provider-mock"], [])


async def test_a_preview_says_which_servers_and_skills_would_be_asked_about(
    project: Path, own_home: Path
) -> None:
    tools = "tools: [{module: tool-mcp}, {module: tool-skills}]\n"
    user_bundle(own_home, "both", tools + COMPLETE)
    write(project / ".mcp.json", '{"mcpServers": {"theirs": {"command": "x"}}}')
    write(project / ".agents/skills/one/SKILL.md", "---\nname: one\ndescription: d\n---\n")
    asked = (await workspace(project).preview("both")).asked
    assert [(item.group, item.title) for item in asked] == [
        ("skills", "one"),
        ("power", "MCP server · theirs"),
    ]
