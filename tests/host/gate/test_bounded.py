import asyncio
from pathlib import Path

from amplifier_tui.host.gate.calls.result_limit import MOST, bounded
from amplifier_tui.host.redaction import Redactor

KEY = "users-own-value-0123456789"
TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def test_what_is_cut_off_a_result_is_kept_without_its_secrets(tmp_path: Path) -> None:
    # One secret every 100 characters stands on every border there may be.
    line = f"{TOKEN} {KEY}".ljust(97, ".")
    output = f"{line} \n" * (MOST // 90)
    cut = asyncio.run(bounded({"output": output}, tmp_path, Redactor({"MY_API_KEY": KEY})))
    (file,) = (tmp_path / "results").iterdir()
    kept = file.read_text()
    assert str(file) in cut.output
    assert KEY not in kept
    assert TOKEN not in kept
    assert kept.count("[REDACTED] [REDACTED]....") == output.count("\n")


def test_a_text_without_an_end_of_line_is_kept_whole(tmp_path: Path) -> None:
    output = "word " * (MOST // 4)
    asyncio.run(bounded(output, tmp_path, Redactor({})))
    (file,) = (tmp_path / "results").iterdir()
    assert file.read_text() == output
