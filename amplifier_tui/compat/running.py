"""Runs a program in this process as `python` would: in a `__main__` of its own."""

import builtins
import importlib.util
import io
import os
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, Final

PYTEST_PLUGIN: Final = "amplifier_module"
# We are imported long before pytest can rewrite our asserts, which is nothing to warn of.
_IGNORED: Final = (
    "ignore:Module already imported so cannot be rewritten; amplifier_tui:"
    "pytest.PytestAssertRewriteWarning"
)


class CannotRunError(Exception):
    """There is nothing to run.

    Args:
        message: Why, in one line.
        status: Exit status that `python` has for it.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be run.

    Attributes:
        code: Its code.
        name: What `sys.argv[0]` is.
        names: What its `__main__` holds from the start, beside what every module does.
    """

    code: CodeType
    name: str
    names: dict[str, Any] = field(default_factory=dict)


def run_text(text: str | bytes, filename: str, arguments: Sequence[str]) -> None:
    """Run a program's text, as `python -c` and `python -` do.

    Args:
        text: The program.
        filename: What tracebacks call it.
        arguments: What follows its name in `sys.argv`.
    """
    name, names = ("-c", {}) if filename == "<string>" else ("-", {"__file__": filename})
    sys.argv = [name, *arguments]
    _look_first_in("")
    with _tracebacks_of_python():
        _run(Program(_compiled(text, filename), name, names), arguments)


def run_script(script: str, arguments: Sequence[str]) -> None:
    """Run a file, or the `__main__.py` of a folder or zip file, as `python script` does.

    Raises:
        CannotRunError: There is no such script, or it can't be read.
    """
    sys.argv = [script, *arguments]
    if os.path.isdir(script) or zipfile.is_zipfile(script):
        folder = os.path.abspath(script)
        _look_first_in(folder)
        spec = PathFinder.find_spec("__main__", [folder])
        with _tracebacks_of_python():
            program = _of_spec(spec, script)
            if program is None:
                raise CannotRunError(f"Error: There is no __main__.py in {script}.", 1)
            _run(program, arguments)
        return
    path = os.path.abspath(script)
    try:
        with io.open_code(path) as file:
            text = file.read()
    except FileNotFoundError as error:
        raise CannotRunError(f"Error: There is no script {script}.", 2) from error
    except OSError as error:
        raise CannotRunError(f"Error: Cannot read {script}: {error.strerror}.", 2) from error
    # The folder the file is in, not the one of a link to it.
    _look_first_in(str(Path(path).resolve().parent))
    names = {"__file__": path, "__cached__": None, "__loader__": SourceFileLoader("__main__", path)}
    with _tracebacks_of_python():
        _run(Program(_compiled(text, path), script, names), arguments)


def run_module(name: str, arguments: Sequence[str]) -> None:
    """Run a module, or the `__main__` of a package, as `python -m` does; pytest with our plugin.

    Raises:
        CannotRunError: There is no such module, or it can't be run.
    """
    if name == "pytest":
        arguments = _pytest_arguments(arguments)
    _look_first_in(os.getcwd())
    sys.argv = ["-m", *arguments]
    with _tracebacks_of_python():
        spec = _found(name)
        if spec is None:
            text = f"Error: No module named {name}. Install it in this environment."
            raise CannotRunError(text, 1)
        if spec.submodule_search_locations is not None:
            name, spec = f"{name}.__main__", _found(f"{name}.__main__")
        program = _of_spec(spec, name)
        if program is None:
            raise CannotRunError(f"Error: {name.removesuffix('.__main__')} cannot be executed.", 1)
        _run(program, arguments)


def _found(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise
    except ValueError:
        return None


def _of_spec(spec: ModuleSpec | None, name: str) -> Program | None:
    code = getattr(spec.loader, "get_code", None) if spec is not None else None
    if spec is None or code is None:
        return None
    names = {
        "__spec__": spec,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__cached__": spec.cached,
        "__file__": spec.origin,
    }
    is_file = spec.name == "__main__" or spec.origin is None
    return Program(code(spec.name), name if is_file else str(spec.origin), names)


def _compiled(text: str | bytes, filename: str) -> CodeType:
    return compile(text, filename, "exec", dont_inherit=True)


def _look_first_in(folder: str) -> None:
    if not sys.flags.safe_path:
        # Where we ourselves are run from is not where the program looks.
        sys.path[0] = folder


def _run(program: Program, arguments: Sequence[str]) -> None:
    sys.argv = [program.name, *arguments]
    main = ModuleType("__main__")
    main.__dict__.update({"__builtins__": builtins, **program.names})
    # It stays when the program has ended: threads and exit functions may still need it.
    sys.modules["__main__"] = main
    exec(program.code, main.__dict__)


@contextmanager
def _tracebacks_of_python() -> Iterator[None]:
    """Have an exception that ends the program shown without what runs it."""
    try:
        yield
    except (SystemExit, CannotRunError):
        raise
    except BaseException:
        show = sys.excepthook

        def shown(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            while trace is not None and _is_ours(trace):
                trace = trace.tb_next
            show(kind, error.with_traceback(trace), trace)

        sys.excepthook = shown
        raise


def _is_ours(trace: TracebackType) -> bool:
    filename = trace.tb_frame.f_code.co_filename
    return filename.startswith("<frozen ") or Path(filename).parent == Path(__file__).parent


def _pytest_arguments(arguments: Sequence[str]) -> list[str]:
    installed = any(entry.name == PYTEST_PLUGIN for entry in entry_points(group="pytest11"))
    plugin = PYTEST_PLUGIN if installed else "amplifier_tui.kernel.pytest_plugin"
    plugins = ["-p", "amplifier_tui.compat.pytest_order", "-p", plugin]
    # The last filter counts most.
    return [*plugins, *arguments] if "--" in arguments else [*plugins, *arguments, "-W", _IGNORED]
