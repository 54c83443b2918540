import sys
from collections.abc import Iterator

import pytest

from amplifier_tui.kernel.mounting.packages import copies, search_path


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("amplifier_module_"):
            del sys.modules[name]
    search_path._path_users.clear()
    for known in (search_path._put_there, copies._brought, copies._aside):
        known.clear()
