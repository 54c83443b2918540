import importlib.metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from amplifier_tui.kernel import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader, module_failure_reason
from amplifier_tui.kernel.mounting.sources import ModuleLoadError, ModuleNotFoundError
from tests.kernel.loader.written import Resolver, Source, loader_for, write

# -- resolvers of every make -----------------------------------------------------------------------


async def test_a_resolver_gets_the_hint_under_both_names(tmp_path: Path) -> None:
    resolver = Resolver(write(tmp_path, "tool-a"))
    loader = await loader_for(resolver)
    mount = await loader.load("tool-a", {"n": 1}, source_hint="git+x")
    assert await mount(None) == {"n": 1}
    assert resolver.asked == [("tool-a", "git+x", "git+x")]


async def test_the_hints_older_argument_name_is_accepted(tmp_path: Path) -> None:
    resolver = Resolver(write(tmp_path, "tool-a"))
    await (await loader_for(resolver)).load("tool-a", profile_source="old")
    assert resolver.asked == [("tool-a", "old", "old")]


class AsyncResolver:
    def __init__(self, path: Path) -> None:
        self.path = path

    async def async_resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> Any:
        return Source(self.path)

    def resolve(self, module_id: str) -> Any:
        raise AssertionError("async_resolve is preferred")


class Spec000Resolver(Resolver):
    def resolve(self, module_id: str, profile_hint: Any = None) -> Any:
        return super().resolve(module_id, None, profile_hint)


class PositionalResolver(Resolver):
    def resolve(self, module_id: str, hint: Any, /) -> Any:
        return super().resolve(module_id, hint)


class BareResolver(Resolver):
    def resolve(self, module_id: str) -> Any:
        return super().resolve(module_id)


class KeywordResolver(Resolver):
    def resolve(self, module_id: str, **hints: Any) -> Any:
        return super().resolve(module_id, **hints)


class PathResolver(Resolver):
    def resolve(self, module_id: str, hint: Any = None) -> Any:
        return str(self.path)


class CoroutineResolver(Resolver):
    async def resolve(self, module_id: str, hint: Any = None) -> Any:
        class Later:
            async def resolve(self_) -> Any:
                return self.path

        return Later()


@pytest.mark.parametrize(
    "make",
    [
        AsyncResolver,
        Spec000Resolver,
        PositionalResolver,
        BareResolver,
        KeywordResolver,
        PathResolver,
        CoroutineResolver,
    ],
)
async def test_every_published_signature_is_served(make: Any, tmp_path: Path) -> None:
    loader = await loader_for(make(write(tmp_path, "tool-a")))
    assert await (await loader.load("tool-a", {"n": 1}, source_hint="h"))(None) == {"n": 1}


async def test_each_resolver_gets_the_hint_it_takes(tmp_path: Path) -> None:
    path = write(tmp_path, "tool-a")
    for make, expected in (
        (Spec000Resolver, ("tool-a", None, "h")),
        (PositionalResolver, ("tool-a", "h", None)),
        (BareResolver, ("tool-a", None, None)),
        (KeywordResolver, ("tool-a", "h", "h")),
    ):
        resolver = make(path)
        await (await loader_for(resolver)).load("tool-a", source_hint="h")
        assert resolver.asked == [expected]


async def test_a_type_error_inside_a_resolver_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="inside"):
        await (await loader_for(Resolver(TypeError("inside")))).load("tool-a")


async def test_the_resolver_is_looked_up_when_loading_also_at_the_callers_coordinator(
    tmp_path: Path,
) -> None:
    loader = ModuleLoader()
    coordinator = ModuleCoordinator()
    coordinator.mount_points["module-source-resolver"] = Resolver(write(tmp_path, "tool-late"))
    assert await loader.load("tool-late", coordinator=coordinator)
    without_point = MagicMock()
    without_point.get.side_effect = ValueError("no such point")
    with pytest.raises(ValueError, match="not found"):
        await ModuleLoader(without_point).load("tool-nowhere")


# -- falling back ----------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["resolver", "source", "nothing"])
async def test_a_resolver_that_does_not_know_is_no_dead_end(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class EntryPoint:
        name, value, dist = "tool-a", "x:mount", None

        def load(self) -> Any:
            async def mount(coordinator: Any, config: Any) -> str:
                return "installed"

            return mount

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [EntryPoint()])
    unknown = ModuleNotFoundError("unknown here")
    resolver: Any = {
        "resolver": Resolver(unknown),
        "source": MagicMock(spec=["resolve"], **{"resolve.return_value": Source(unknown)}),
        "nothing": MagicMock(spec=["resolve"], **{"resolve.return_value": None}),
    }[where]
    loader = await loader_for(resolver)
    assert await (await loader.load("tool-a"))(None) == "installed"


async def test_nowhere_at_all_names_the_resolvers_words_too() -> None:
    loader = await loader_for(Resolver(ModuleNotFoundError("I looked in my cupboard")))
    with pytest.raises(ModuleNotFoundError, match="I looked in my cupboard"):
        await loader.load("tool-nowhere")


async def test_other_errors_of_a_resolver_come_out() -> None:
    with pytest.raises(OSError, match="disk"):
        await (await loader_for(Resolver(OSError("disk")))).load("tool-a")


@pytest.mark.parametrize(
    ("resolver", "found"),
    [
        (SimpleNamespace(), "it has no resolve()"),
        (SimpleNamespace(resolve=5), "it has no resolve()"),
        (SimpleNamespace(resolve=lambda *_: 42), "its answer is int, neither a path nor a source"),
        (
            SimpleNamespace(resolve=lambda *_: SimpleNamespace(resolve=lambda: b"/x")),
            "its source resolved to bytes, not to a path",
        ),
    ],
)
async def test_a_resolver_that_gives_no_source_is_told_what_it_gave(
    resolver: Any, found: str
) -> None:
    with pytest.raises(ModuleLoadError) as failure:
        await (await loader_for(resolver)).load("tool-gone")
    assert str(failure.value).startswith(
        "Module 'tool-gone' can't be found by the module source resolver SimpleNamespace: " + found
    )
    assert module_failure_reason(failure.value) == "missing_source"
