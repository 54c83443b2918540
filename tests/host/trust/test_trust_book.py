"""What two programs trust at the same time, both remember."""

import threading
from pathlib import Path

import pytest

from amplifier_tui.foundation.trust.gate import TrustRequest
from amplifier_tui.host.trust.sources import TrustBook


def request(name: str) -> TrustRequest:
    return TrustRequest("fetch", f"git+https://forge/{name}@main", commit="a" * 40)


def test_two_windows_do_not_lose_each_others_answers(tmp_path: Path) -> None:
    path = tmp_path / "state" / "trusted.json"
    one, two = TrustBook(path), TrustBook(path)
    assert not one.knows(request("x")) and not two.knows(request("y"))
    one.add(request("x"))
    two.add(request("y"))
    later = TrustBook(path)
    assert later.knows(request("x")) and later.knows(request("y"))


def test_what_another_window_trusted_meanwhile_counts_here(tmp_path: Path) -> None:
    one, two = TrustBook(tmp_path / "t.json"), TrustBook(tmp_path / "t.json")
    assert not one.knows(request("x"))
    two.add(request("x"))
    assert one.knows(request("x"))


def test_answers_given_at_the_same_moment_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    threads = [
        threading.Thread(target=TrustBook(path).add, args=(request(str(number)),))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    later = TrustBook(path)
    assert all(later.knows(request(str(number))) for number in range(20))
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_unreadable_file_trusts_nothing_and_an_unwritable_one_is_remembered_here(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "t.json"
    broken.write_text("[1]")
    assert not TrustBook(broken).knows(request("x"))
    assert "can't be read" in caplog.text
    nowhere = TrustBook(broken / "t.json")
    nowhere.add(request("x"))
    assert nowhere.knows(request("x"))
    assert "could not be noted" in caplog.text
