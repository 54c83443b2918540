"""The context provider that the README shows takes part as it says."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import amplifier_tui.context
from tests.context.stage import Stage, texts

README = Path(str(amplifier_tui.context.__file__)).with_name("README.md").read_text()


def example() -> dict[str, Any]:
    code = re.findall(r"^```python\n(# amplifier_module_.*?)^```", README, re.MULTILINE | re.DOTALL)
    scope: dict[str, Any] = {"__name__": "amplifier_module_hooks_glossary"}
    exec(compile(code[0], "README.md", "exec"), scope)
    return scope


async def test_what_the_words_of_a_prompt_mean_goes_before_it() -> None:
    stage = Stage()
    coordinator = SimpleNamespace(get_capability={"context.pipeline": stage.pipeline}.get)
    await example()["mount"](coordinator, {"words": {"lane": "one agent's events"}})
    said = texts(await stage.execute("What is a lane?"))
    assert said == ["## Glossary\nlane: one agent's events", "What is a lane?"]
    assert texts(await stage.execute("And a rail?"))[-1] == "And a rail?"
    assert stage.pipeline.session.state["glossary"] == {"asked": 2}


async def test_in_a_session_with_another_context_it_does_nothing() -> None:
    await example()["mount"](SimpleNamespace(get_capability=lambda name: None))
