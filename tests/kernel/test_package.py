import re
import subprocess
import sys

import pytest

import amplifier_tui.kernel as kernel


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout.strip()


def test_every_exported_name_is_there() -> None:
    for name in kernel.__all__:
        assert getattr(kernel, name) is not None
    assert sorted(kernel.__all__) == sorted(set(kernel.__all__))
    assert set(kernel.__all__) <= set(dir(kernel))


def test_the_names_of_the_native_kernel_are_our_classes() -> None:
    assert kernel.RustSession is kernel.AmplifierSession
    assert kernel.RustHookRegistry is kernel.HookRegistry
    assert kernel.RustCancellationToken is kernel.CancellationToken
    assert kernel.RustCoordinator is kernel.ModuleCoordinator
    assert kernel.RUST_AVAILABLE is False


def test_a_name_that_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(kernel, "nonsense")  # noqa: B009


def test_submodules_can_be_reached_without_importing_them() -> None:
    assert run(
        "import amplifier_tui.kernel as k; print(k.llm_errors.LLMError.__name__, "
        "k.events.TOOL_PRE, k.utils.truncate.REDACTED)"
    ) == ("LLMError tool:pre [REDACTED]")


def test_a_patched_name_is_what_others_get(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amplifier_tui.kernel.AmplifierSession", str)
    assert kernel.AmplifierSession is str
    from amplifier_tui.kernel import AmplifierSession

    assert AmplifierSession is str


HEAVY = "('textual', 'rich', 'yaml', 'anthropic', 'openai', 'pytest', 'click', 'platformdirs')"


def test_the_whole_kernel_needs_nothing_heavy() -> None:
    code = (
        "import sys, amplifier_tui.kernel as k, amplifier_tui.kernel.validation\n"
        "[getattr(k, name) for name in k.__all__]\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_importing_the_package_alone_imports_not_even_pydantic() -> None:
    code = "import sys, amplifier_tui.kernel; print('pydantic' in sys.modules)"
    assert run(code) == "False"


@pytest.mark.parametrize(
    "name",
    ["AmplifierSession", "HookRegistry", "ModuleCoordinator", "ModuleLoader", "Tool", "ToolResult"],
)
def test_each_name_can_be_the_first_one_imported(name: str) -> None:
    assert run(f"from amplifier_tui.kernel import {name}; print('ok')") == "ok"


EVERY_MODULE = f"""
import importlib, sys
from pathlib import Path
import amplifier_tui.kernel as kernel
[root] = map(Path, kernel.__path__)
for file in sorted(root.rglob("*.py")):
    name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix("__init__")
    if not any(part in name for part in ("pytest_plugin", "suites")):
        importlib.import_module(f"amplifier_tui.kernel.{{name}}".rstrip("."))
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_no_module_of_the_kernel_needs_anything_heavy() -> None:
    assert run(EVERY_MODULE) == "[]"


def test_a_session_that_validates_modules_imports_no_test_doubles() -> None:
    code = (
        "import sys, amplifier_tui.kernel as k\n"
        "k.AmplifierSession, k.ModuleLoader\n"
        "import amplifier_tui.kernel.validation\n"
        "print([m for m in ('unittest', 'unittest.mock', 'pytest') if m in sys.modules])"
    )
    assert run(code) == "[]"


def test_the_version_is_that_of_the_published_api() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", kernel.__version__)
    assert run("import amplifier_tui.kernel as k; print(k.__version__)") == kernel.__version__
