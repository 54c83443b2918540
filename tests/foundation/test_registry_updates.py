import asyncio
from pathlib import Path

import pytest

from amplifier_tui.foundation.registry import loader
from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
from amplifier_tui.foundation.registry.state import UpdateInfo
from amplifier_tui.foundation.updates import check_bundle_status, update_bundle
from tests.foundation.helpers import GitRepo, Recorder, allow, write


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: b, version: 1}"})


async def test_a_newer_commit_is_found_and_fetched(tmp_path: Path, repo: GitRepo) -> None:
    registry = BundleRegistry(trust=allow)
    await registry.load(repo.uri())
    assert await registry.check_update("b") is None
    assert await registry.check_update() == []
    old = repo.git("rev-parse", "HEAD")
    new = repo.commit({"bundle.yaml": "bundle: {name: b, version: 2}"})
    expected = UpdateInfo("b", old[:8], new[:8], repo.uri())
    assert await registry.check_update("b") == expected
    assert await registry.check_update() == [expected]
    assert registry.states["b"].checked_at is not None
    assert (await registry.update("b")).version == 2
    assert registry.states["b"].version == 2
    assert await registry.check_update("b") is None


async def test_what_a_bundle_includes_is_updated_with_it(tmp_path: Path, repo: GitRepo) -> None:
    top = write(tmp_path / "top.yaml", f"bundle: {{name: top}}\nincludes: ['{repo.uri()}']\n")
    registry = BundleRegistry(trust=allow)
    await registry.load(str(top))
    repo.commit({"bundle.yaml": "bundle: {name: b}\ntools: [{module: new}]\n"})
    info = await registry.check_update("top")
    assert isinstance(info, UpdateInfo) and info.name == "top"
    assert (await registry.update("top")).tools == [{"module": "new"}]


async def test_a_local_bundle_has_no_updates_and_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "l.yaml", "bundle: {name: l}")
    registry = BundleRegistry()
    await registry.load(str(path))
    write(path, "bundle: {name: l, version: 3}")
    assert await registry.check_update("l") is None
    assert (await registry.load("l")).version == "1.0.0"
    assert (await registry.update("l")).version == 3
    loaded = await registry.update()
    assert list(loaded) == ["l"]


async def test_an_unknown_name_is_a_key_error() -> None:
    registry = BundleRegistry()
    for action in (registry.update, registry.check_update):
        with pytest.raises(KeyError):
            await action("nobody")


async def test_checking_contacts_nobody_without_trust(tmp_path: Path, repo: GitRepo) -> None:
    await BundleRegistry(trust=allow).load(repo.uri())
    repo.commit({"bundle.yaml": "bundle: {name: b, version: 2}"})
    assert await BundleRegistry().check_update("b") is None


async def test_the_status_of_a_bundle_covers_its_modules(tmp_path: Path, repo: GitRepo) -> None:
    module = GitRepo.create(
        tmp_path / "mod", {"pyproject.toml": "", "amplifier_module_tool_q/__init__.py": "X = 1"}
    )
    entry = f"{{module: tool-q, source: '{module.uri()}'}}"
    text = f"bundle: {{name: b}}\ntools: [{entry}, {{module: l, source: ./local}}]\n"
    repo.commit({"bundle.yaml": text})
    registry = BundleRegistry(trust=allow)
    bundle = await registry.load(repo.uri())
    await registry.source_resolver.resolve(module.uri())
    status = await check_bundle_status(bundle, registry.cache_dir, trust=allow)
    assert (status.bundle_name, status.bundle_source) == ("b", repo.uri())
    assert not status.has_updates and len(status.up_to_date_sources) == 2
    assert status.summary == "2 up to date, 1 unknown"
    module.commit({"amplifier_module_tool_q/__init__.py": "X = 2"})
    status = await check_bundle_status(bundle, registry.cache_dir, trust=allow)
    assert [source.source_uri for source in status.updateable_sources] == [module.uri()]
    assert status.has_updates and status.summary.startswith("1 ")
    recorder = Recorder()
    updated = await update_bundle(bundle, registry.cache_dir, install_deps=False, trust=recorder)
    assert updated is bundle
    assert "install" not in recorder.actions
    found = await registry.source_resolver.resolve(module.uri())
    text = (found.active_path / "amplifier_module_tool_q" / "__init__.py").read_text()
    assert text == "X = 2"
    status = await check_bundle_status(bundle, registry.cache_dir, trust=allow)
    assert not status.has_updates


async def test_a_bundle_without_sources_says_so() -> None:
    from amplifier_tui.foundation.bundle.bundle import Bundle

    status = await check_bundle_status(Bundle(name="x"))
    assert (status.sources, status.summary) == ([], "no sources")


async def test_a_diamond_reads_its_bottom_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    original = loader.load_bundle_path

    def counting(path: Path) -> object:
        reads.append(path.stem)
        return original(path)

    monkeypatch.setattr(loader, "load_bundle_path", counting)
    write(tmp_path / "bottom.yaml", "bundle: {name: bottom}\ntools: [{module: t}]")
    for name in ("left", "right"):
        write(tmp_path / f"{name}.yaml", f"bundle: {{name: {name}}}\nincludes: [./bottom.yaml]")
    top = "bundle: {name: top}\nincludes: [./left.yaml, ./right.yaml]"
    bundle = await load_bundle(write(tmp_path / "top.yaml", top))
    assert sorted(reads) == ["bottom", "left", "right", "top"]
    assert bundle.tools == [{"module": "t"}]


async def test_everyone_who_waits_for_a_failing_load_sees_its_error(tmp_path: Path) -> None:
    path = write(tmp_path / "x.yaml", "a: [")
    registry = BundleRegistry()
    results = await asyncio.gather(
        *(registry._load_single(str(path)) for _ in range(3)), return_exceptions=True
    )
    assert len({id(result) for result in results}) == 1
    assert "Not valid YAML" in str(results[0])


async def test_a_cancelled_load_does_not_cancel_those_who_wait_for_it(tmp_path: Path) -> None:
    path = write(tmp_path / "x.yaml", "bundle: {name: x}")
    asked = asyncio.Event()
    release = asyncio.Event()

    class Slow:
        def can_handle(self, parsed: object) -> bool:
            return True

        async def resolve(self, parsed: object, cache_dir: Path) -> object:
            from amplifier_tui.foundation.paths import ResolvedSource

            asked.set()
            await release.wait()
            return ResolvedSource(path, tmp_path)

    registry = BundleRegistry()
    registry.source_resolver.add_handler(Slow())
    first = asyncio.create_task(registry._load_single(str(path)))
    await asked.wait()
    second = asyncio.create_task(registry._load_single(str(path)))
    await asyncio.sleep(0)
    first.cancel()
    release.set()
    assert (await second).name == "x"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_progress_names_what_is_loaded_and_composed(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "bundle: {name: a}")
    top = write(tmp_path / "top.yaml", "bundle: {name: top}\nincludes: [./a.yaml]")
    progress: list[tuple[str, str]] = []
    await load_bundle(top, progress=lambda *event: progress.append(event))
    assert progress == [
        ("loading", str(top)),
        ("composing", "top"),
        ("loading", str(tmp_path / "a.yaml")),
    ]


async def test_bundles_that_include_each_other_are_checked_once(
    tmp_path: Path, repo: GitRepo
) -> None:
    registry = BundleRegistry(trust=allow)
    await registry.load(repo.uri())
    write(tmp_path / "other.yaml", "bundle: {name: other}")
    registry.register({"other": str(tmp_path / "other.yaml")})
    registry.states["b"].includes = ["other", "nobody"]
    registry.states["other"].includes = ["b"]
    new = repo.commit({"bundle.yaml": "bundle: {name: b, version: 2}"})
    for name in ("b", "other"):
        info = await registry.check_update(name)
        assert isinstance(info, UpdateInfo) and info.available_version == new[:8]


async def test_what_was_never_fetched_has_no_update(repo: GitRepo) -> None:
    registry = BundleRegistry(trust=allow)
    registry.register({"b": repo.uri()})
    assert await registry.check_update() == []
