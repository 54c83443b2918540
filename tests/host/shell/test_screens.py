import pytest

from amplifier_tui.host.shell.screens import TerminalNeed, terminal_need

NOTHING = TerminalNeed()
ASKS = TerminalNeed(needed=True)
DRAWS = TerminalNeed(needed=True, full_screen=True)


@pytest.mark.parametrize(
    ("command", "need"),
    [
        ("ls -la", NOTHING),
        ("vim notes.txt", DRAWS),
        ("/usr/bin/less notes.txt", DRAWS),
        ("cd docs && vim index.md", DRAWS),
        ("(cd docs; less index.md)", DRAWS),
        ("PAGER=x env A=1 man ls", DRAWS),
        ("bash -c 'vim notes.txt'", DRAWS),
        ("git log | less", DRAWS),
        ("less notes.txt | head", NOTHING),
        ("man ls > page.txt", NOTHING),
        ("vim --version", NOTHING),
        ("echo vim", NOTHING),
        ("echo $(less notes.txt)", NOTHING),
        ("sudo make install", ASKS),
        ("sudo make 2>&1 | tee log", ASKS),
        ("ssh host", ASKS),
        ("python", ASKS),
        ("python script.py", NOTHING),
        ("cat script.py | python", NOTHING),
        ("git commit", ASKS),
        ("git commit -am done", NOTHING),
        ("git commit --message done", NOTHING),
        ("git rebase -i HEAD~2", ASKS),
        ("git add .", NOTHING),
        ("docker run -it image", ASKS),
        ("echo 'not closed", NOTHING),
        ("less " + "x" * 5_000, NOTHING),
        ("", NOTHING),
    ],
)
def test_what_draws_a_screen_or_reads_keys_needs_the_terminal(
    command: str, need: TerminalNeed
) -> None:
    assert terminal_need(command) == need
