"""Modules written to disk, and resolvers that lead to them."""

from pathlib import Path
from typing import Any

from amplifier_tui.kernel import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader

MOUNT = """
class Tool:
    name = description = "t"

    async def execute(self, input):
        return None


async def mount(coordinator, config):
    if coordinator is not None:
        await coordinator.mount("tools", Tool())
    return config


"""


def write(folder: Path, module_id: str, source: str = MOUNT) -> Path:
    package = folder / f"amplifier_module_{module_id.replace('-', '_')}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(source)
    return folder


class Source:
    def __init__(self, path: Any) -> None:
        self.path = path

    def resolve(self) -> Any:
        if isinstance(self.path, Exception):
            raise self.path
        return self.path


class Resolver:
    def __init__(self, path: Any) -> None:
        self.path = path
        self.asked: list[tuple[Any, ...]] = []

    def resolve(self, module_id: str, source_hint: Any = None, profile_hint: Any = None) -> Any:
        self.asked.append((module_id, source_hint, profile_hint))
        if isinstance(self.path, Exception):
            raise self.path
        return Source(self.path)


async def loader_for(resolver: Any) -> ModuleLoader:
    coordinator = ModuleCoordinator()
    loader = ModuleLoader(coordinator)
    await coordinator.mount("module-source-resolver", resolver)
    return loader
