"""A bundle of thirty sources with everything it includes, in repositories made by the tests.

Written the way published bundles are: a bundle that is a root, behaviors within behaviors, agents,
modes, recipes as data files, context that mentions files of other namespaces, modules of their own
repositories and of a repository of many.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.ecosystem import modules
from tests.foundation.helpers import GitRepo, write
from tests.foundation.packages import project_files

NUMBERED = 16
"""Tools of the repository of many."""
PUBLISHER = "https://git.example/acme"
GONE = "amplifier-bundle-gone"
"""A repository that was published once."""


@dataclass
class World:
    """What is published.

    Attributes:
        folder: Where the repositories are.
        repos: By name.
        sources: Every source that opening the bundle asks for, as written.
    """

    folder: Path
    repos: dict[str, GitRepo] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    @property
    def git_settings(self) -> dict[str, str]:
        """The environment in which git finds the publisher's repositories on this machine."""
        file = write(
            self.folder.parent / "gitconfig",
            f'[url "file://{self.folder}/"]\n\tinsteadOf = {PUBLISHER}/\n',
        )
        return {"GIT_CONFIG_GLOBAL": str(file), "GIT_CONFIG_NOSYSTEM": "1"}

    def publish(self, name: str, files: dict[str, str]) -> None:
        """Make a repository."""
        self.repos[name] = GitRepo.create(self.folder / name, files)

    def uri(self, name: str, subdirectory: str = "") -> str:
        """Return the address of a source that the bundle asks for, and note it."""
        fragment = f"#subdirectory={subdirectory}" if subdirectory else ""
        uri = f"git+{PUBLISHER}/{name}@main{fragment}"
        if uri not in self.sources:
            self.sources.append(uri)
        return uri

    def entry(self, module: str, name: str, subdirectory: str = "", **config: Any) -> str:
        """Return a module entry as a line of YAML."""
        entry = {"module": module, "source": self.uri(name, subdirectory), "config": config}
        return f"  - {json.dumps(entry)}\n"


def publish(folder: Path) -> World:
    """Make every repository of the bundle `grand`, whose own file `bundle_text` returns."""
    world = World(folder)
    _publish_modules(world)
    world.publish("amplifier-bundle-polish", {"behaviors/polish.yaml": _polish(world)})
    world.publish("amplifier-bundle-craft", _craft(world))
    world.publish("amplifier-stem", _stem(world))
    return world


def bundle_text(world: World, script: Path) -> str:
    """Return the file of the bundle `grand`, as a user keeps it in the own home."""
    tools = world.entry("tool-shape", "amplifier-module-tool-shape")
    tools += world.entry("tool-bare", "amplifier-module-tool-bare")
    tools += world.entry("tool-word", "amplifier-module-tool-word", greeting="hello")
    tools += "".join(
        world.entry(f"tool-k{number}", "amplifier-modules", f"modules/tool-k{number}")
        for number in range(NUMBERED)
    )
    tools += world.entry("tool-nowhere", "amplifier-modules", "modules/tool-nowhere")
    asks = world.entry("hooks-asks", "amplifier-modules", "modules/hooks-asks", tool="shape")
    return f"""---
bundle:
  name: grand
  version: 2.1.0
  description: Everything at once
includes:
  - bundle: {world.uri("amplifier-stem")}
  - bundle: {world.uri("amplifier-bundle-craft", "behaviors/craft.yaml")}
  - bundle: {world.uri(GONE)}
  - bundle: stem:behaviors/shared
session:
  orchestrator: {{module: loop-streaming}}
  context: {{module: context-simple}}
providers:
  - module: provider-mock
    config: {{script: {script}, tokens_per_second: 0}}
tools:
  - module: tool-task
{tools}hooks:
{asks}{world.entry("hooks-says", "amplifier-modules", "modules/hooks-says")}---

You know everything about shapes. @stem:context/principles.md
"""


SCRIPT: dict[str, Any] = {
    "name": "Grand",
    "scenarios": [
        {
            "name": "parent",
            "when": {"prompt": "shapes"},
            "steps": {
                "ask": {
                    "call": [
                        {"word": {"text": "now"}},
                        {"shape": {"text": "round"}},
                        {"task": {"agent": "stem:scout", "instruction": "Look closely."}},
                    ]
                },
                "done": {"say": "{{output}} | {{output:2}}"},
            },
        },
        {
            "name": "child",
            "steps": {
                "look": {"call": [{"lens": {"text": "close"}}]},
                "tell": {"say": "Seen through {{output}}"},
            },
        },
    ],
}
"""What the model says: one turn with two tools and an agent that has a tool of its own."""


def _publish_modules(world: World) -> None:
    word = project_files("zz-words", "zz_words", "def spoken(text):\n    return text.upper()\n")
    world.publish("zz-words", modules.inside("python/words", word))
    git = f'git = "{PUBLISHER}/zz-words", subdirectory = "python/words"'
    world.publish(
        "amplifier-module-tool-word",
        modules.tool(
            "word",
            head="from zz_words import spoken\n",
            answer='self.config["greeting"] + " " + spoken(input["text"])',
            requires=["zz-words", "amplifier-core", "pydantic>=2"],
            sources=f'zz-words = {{ {git}, branch = "main" }}',
        ),
    )
    world.publish("amplifier-module-tool-shape", modules.tool("shape", entry="class"))
    world.publish("amplifier-module-tool-bare", modules.tool("bare", entry="none"))
    many: dict[str, str] = {}
    for name in (*(f"k{number}" for number in range(NUMBERED)), "lens"):
        many |= modules.inside(f"modules/tool-{name}", modules.tool(name))
    hooks = {"asks": modules.ASKS, "says": modules.SAYS, "naming": modules.NAMES}
    for name, code in {**hooks, "notes": modules.COUNTS, "pulse": modules.COUNTS}.items():
        many |= modules.inside(f"modules/hooks-{name}", modules.hook(name, code))
    world.publish("amplifier-modules", many)


def _stem(world: World) -> dict[str, str]:
    lens = world.entry("tool-lens", "amplifier-modules", "modules/tool-lens").strip()
    naming = world.entry("hooks-naming", "amplifier-modules", "modules/hooks-naming")
    return {
        "bundle.md": "---\nbundle: {name: stem, version: 1.0.0, description: The root}\n"
        "includes:\n  - bundle: stem:behaviors/core\n"
        "agents: {include: [stem:scout, stem:keeper]}\n"
        "context: {include: [stem:context/principles.md]}\n---\n\nBe careful.\n",
        "behaviors/core.yaml": "bundle: {name: stem-core, version: 1.0.0}\n"
        f"includes: [stem:behaviors/shared]\nhooks:\n{naming}",
        "behaviors/shared.yaml": "bundle: {name: stem-shared}\ntools: [{module: tool-todo}]\n",
        "agents/scout.md": "---\nmeta:\n  name: scout\n  description: Looks closely\n"
        f"  model_role: fast\ntools:\n  {lens}\n---\n\nLook. @craft:context/style.md\n",
        "agents/keeper.md": "---\nmeta: {name: keeper, description: Keeps}\n---\n\nKeep.\n",
        "context/principles.md": "# Principles\n\nMeasure. See @craft:context/style.md\n",
        "modes/careful.md": "---\nmode: {name: careful, description: Slow}\n---\n\nGo slowly.\n",
        "recipes/tidy.yaml": "name: tidy\nsteps:\n  - agent: stem:scout\n    prompt: Look\n",
    }


def _craft(world: World) -> dict[str, str]:
    notes = world.entry("hooks-notes", "amplifier-modules", "modules/hooks-notes")
    polish = world.uri("amplifier-bundle-polish", "behaviors/polish.yaml")
    return {
        "bundle.md": "---\nbundle: {name: craft, version: 0.3.0}\n---\n\nCraft.\n",
        "behaviors/craft.yaml": "bundle: {name: craft-behavior, version: 0.3.0}\n"
        f"includes:\n  - bundle: '{polish}'\nhooks:\n{notes}"
        "context: {include: [craft:context/style.md]}\n",
        "context/style.md": "# Style\n\nShort words. See @stem:context/principles.md\n",
    }


def _polish(world: World) -> str:
    pulse = world.entry("hooks-pulse", "amplifier-modules", "modules/hooks-pulse")
    return f"bundle: {{name: polish, version: 1.0.0}}\nhooks:\n{pulse}"
