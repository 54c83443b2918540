import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import amplifier_tui.foundation as foundation
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.cache import DiskCache, SimpleCache
from amplifier_tui.foundation.dicts import sanitize_for_json, sanitize_message

TAKEN = Path(__file__).parents[1] / "compat" / "published_foundation.json"
PUBLISHED = list(json.loads(TAKEN.read_text())["modules"]["amplifier_foundation"])


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_name_is_there(name: str) -> None:
    assert name in foundation.__all__ and name in dir(foundation)
    assert getattr(foundation, name) is not None


def test_names_are_at_the_paths_applications_use() -> None:
    from amplifier_tui.foundation.bundle.prepared import BundleModuleResolver, PreparedBundle
    from amplifier_tui.foundation.checks.validator import validate_bundle_completeness
    from amplifier_tui.foundation.exceptions import BundleError
    from amplifier_tui.foundation.mentions.loading import format_context_block
    from amplifier_tui.foundation.modules.activator import ModuleActivationError, ModuleActivator
    from amplifier_tui.foundation.paths import get_amplifier_home

    assert issubclass(ModuleActivationError, BundleError)
    for thing in (
        BundleModuleResolver,
        PreparedBundle,
        ModuleActivator,
        format_context_block,
        get_amplifier_home,
        validate_bundle_completeness,
    ):
        assert callable(thing)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import amplifier_tui.foundation.bundle as bundle

    for module in (foundation, bundle):
        with pytest.raises(AttributeError, match="no attribute 'nope'"):
            _ = module.nope


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, amplifier_tui.foundation\n"
        "heavy = {'yaml', 'pydantic', 'asyncio', 'urllib.request', 'textual'} & set(sys.modules)\n"
        "ours = [m for m in sys.modules if m.startswith('amplifier_tui.foundation.')]\n"
        "print(sorted(heavy), ours)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"


def test_foundation_without_sessions_does_not_load_the_kernel() -> None:
    code = (
        "import sys, amplifier_tui.foundation as f\n"
        "[getattr(f, name) for name in f.__all__]\n"
        "import amplifier_tui.foundation.workspace\n"
        "print([m for m in sys.modules if m.startswith('amplifier_tui.kernel.')])\n"
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "False"]


def test_bundles_are_kept_in_memory_or_on_disk(tmp_path: Path) -> None:
    bundle = Bundle(
        name="x",
        version=0.1,
        tools=[{"module": "t"}],
        context={"a": Path("/a")},
        base_path=Path("/b"),
        source_base_paths={"x": Path("/b")},
        covered_base_paths={"x": [Path("/c")]},
        _pending_context={"n:p": "n:p"},
        instruction="hi",
    )
    for cache in (SimpleCache(), DiskCache(tmp_path / "cache")):
        assert cache.get("k") is None and "k" not in cache
        cache.set("k", bundle)
        assert "k" in cache and cache.get("k") == bundle
        cache.clear()
        assert "k" not in cache


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 1}', "null"])
def test_an_unreadable_cache_entry_is_deleted(tmp_path: Path, text: str) -> None:
    cache = DiskCache(tmp_path)
    cache.set("git+https://h/../../x", Bundle(name="x"))
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("git_https___h_______x-") and path.suffix == ".json"
    path.write_text(text)
    assert cache.get("git+https://h/../../x") is None
    assert not path.exists()


class Model:
    def model_dump(self) -> dict[str, Any]:
        return {"a": 1, "b": None}


class Plain:
    def __init__(self) -> None:
        self.x = {1}


def test_a_sanitized_value_is_json_without_null() -> None:
    circle: dict[str, Any] = {"ok": 1}
    circle["self"] = circle
    value = {
        "model": Model(),
        "plain": Plain(),
        "tuple": (1, None, 2.5),
        "none": None,
        "nan": float("nan"),
        "function": print,
        5: "number",
        "circle": circle,
        "decimal": Decimal("1.5"),
        "bytes": b"x",
    }
    assert sanitize_for_json(value) == {
        "model": {"a": 1},
        "plain": {"x": [1]},
        "tuple": [1, 2.5],
        "5": "number",
        "circle": {"ok": 1},
    }
    deep: Any = "bottom"
    for _ in range(200):
        deep = [deep]
    assert "bottom" not in str(sanitize_for_json(deep))


def test_a_sanitized_message_keeps_the_text_of_its_thinking() -> None:
    class Block:
        text = "thought"

    for block in ({"text": "thought"}, {"thinking": "thought"}, Block()):
        message = {
            "role": "assistant",
            "content": "x",
            "thinking_block": block,
            "content_blocks": [1],
        }
        assert sanitize_message(message) == {
            "role": "assistant",
            "content": "x",
            "thinking_text": "thought",
        }
    assert sanitize_message({"role": "user"}) == {"role": "user"}
