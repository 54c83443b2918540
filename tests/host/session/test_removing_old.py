from pathlib import Path

from amplifier_tui.host.session.cleanup.pruning import remove_old
from tests.foundation.test_pruning import OLD, fresh, installed, left

__all__ = ["fresh"]


def test_what_was_removed_is_said(own_home: Path) -> None:
    cache, said = own_home / ".amplifier" / "cache", list[tuple[str, str]]()
    for number in range(3):
        installed(cache, f"x-{number}", OLD + 5_000)
    remove_old("s", lambda level, text: said.append((level, text)))
    (told,) = said
    assert told == ("info", "Removed 2 old versions of installed modules, unused for 14 days")
    assert left(cache) == {"x-2"}
    remove_old("s", lambda level, text: said.append((level, text)))
    assert said == [told]
