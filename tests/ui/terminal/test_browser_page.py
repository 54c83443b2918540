"""The program where a page of a browser shows it."""

import os

import pytest

from amplifier_tui.ui.terminal import clipboard, guard
from amplifier_tui.ui.terminal.browser_page import PAGE_VARIABLE, BrowserPage
from tests.ui.driving import running


def page_and_reader() -> tuple[BrowserPage, int]:
    read_end, write_end = os.pipe()
    environ = {PAGE_VARIABLE: str(write_end)}
    page = BrowserPage.take(environ)
    assert page is not None
    assert environ == {}
    assert not os.get_inheritable(write_end)
    return page, read_end


@pytest.mark.parametrize("value", [None, "", "x", "-1", "99999"])
def test_in_a_terminal_there_is_no_page(value: str | None) -> None:
    assert BrowserPage.take({} if value is None else {PAGE_VARIABLE: value}) is None


@pytest.mark.parametrize(
    ("link", "opened"),
    [
        ("https://a.example/\ud800", b"https://a.example/?\n"),
        ("https://a/\nhttps://b/\n", b"https://a/https://b/\n"),
    ],
)
def test_one_address_is_opened_whatever_a_link_has_in_it(link: str, opened: bytes) -> None:
    page, read_end = page_and_reader()
    page.open(link)
    assert os.read(read_end, 100) == opened


async def test_an_address_is_opened_by_the_page_and_not_on_this_machine() -> None:
    page, read_end = page_and_reader()
    async with running() as drive:
        drive.app.page = page
        drive.app.open_url("https://a.example/")
        assert os.read(read_end, 100) == b"https://a.example/\n"
        os.close(read_end)
        drive.app.open_url("https://a.example/")
        await drive.settle()
        assert "The page can't open it" in drive.text()


async def test_the_clipboard_of_this_machine_and_its_shell_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    async with running() as drive:
        drive.app.page, _ = page_and_reader()
        monkeypatch.setattr(type(drive.app), "is_headless", False)
        monkeypatch.setattr(clipboard, "native_command", fail)
        monkeypatch.setattr(guard, "write", fail)
        monkeypatch.setattr(type(drive.app), "action_suspend_process", fail)
        drive.app.copy_to_clipboard("text")
        drive.app.action_suspend()
        monkeypatch.undo()
        await drive.settle()
        assert "no shell to go back to" in drive.text()
