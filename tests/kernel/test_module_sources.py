import inspect
from pathlib import Path

import pytest

from amplifier_tui.kernel.mounting.callbacks import MANY, missing_keywords, positional_parameters
from amplifier_tui.kernel.mounting.sources import (
    FileSystemModuleSource,
    ModuleLoadError,
    ModuleNotFoundError,
    ModuleSource,
)


def test_the_errors_are_not_pythons_own() -> None:
    assert not issubclass(ModuleNotFoundError, ImportError)
    assert issubclass(ModuleNotFoundError, Exception)
    assert issubclass(ModuleLoadError, Exception)


def test_a_source_must_say_how_it_resolves(tmp_path: Path) -> None:
    class Incomplete(ModuleSource):
        pass

    class Complete(ModuleSource):
        def resolve(self) -> Path:
            return tmp_path

    with pytest.raises(TypeError):
        Incomplete()
    assert Complete().resolve() == tmp_path


def test_a_file_system_source_gives_out_copies(tmp_path: Path) -> None:
    source = FileSystemModuleSource([str(tmp_path)], {"docs": tmp_path})
    source.get_module_paths().clear()
    source.get_mention_mappings().clear()
    assert source.get_module_paths() == [tmp_path]
    assert source.get_mention_mappings() == {"docs": tmp_path}
    assert FileSystemModuleSource().get_module_paths() == []


def test_a_function_whose_signature_can_not_be_read_takes_anything() -> None:
    class Mount:
        @property
        def __signature__(self) -> inspect.Signature:
            raise NameError("name 'OnlyForTheTypeChecker' is not defined")

        def __call__(self) -> None: ...

    assert positional_parameters(Mount()) == MANY
    assert missing_keywords(Mount(), ("coordinator",)) == []
