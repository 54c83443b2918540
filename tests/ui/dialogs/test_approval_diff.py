"""How an approval of a change shares its rows."""

import re

import pytest

from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient
from tests.ui.requests import ask

pytestmark = pytest.mark.usefixtures("no_grace")

LINES = [
    *('        TooHeavy: beyond the last."""', "    for bracket in TARIFF[zone]:"),
    *("        if weight < limit:", "            return bracket", "    raise TooHeavy(weight)"),
]
CHANGE = "\n".join(
    [*(f" {line}" for line in LINES[:2]), f"-{LINES[2]}", "+        if weight <= limit:"]
    + [f" {line}" for line in LINES[3:]]
)
DIFF = f"--- a/parcels/rates.py\n+++ b/parcels/rates.py\n@@ -36,5 +36,5 @@ def f():\n{CHANGE}\n"


@pytest.mark.parametrize("reach", [0, 3])
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_a_change_has_no_two_blank_rows_and_on_a_small_screen_more_diff_than_frame(
    size: tuple[int, int], reach: int
) -> None:
    wanted = ask(
        tool="edit_file",
        action="edit_file wants to change parcels/rates.py",
        payload="",
        segments=(),
        diff=DIFF,
        risk="medium",
        reasons=("changes a file",),
        paths=("parcels/rates.py",),
        cwd="/home/u/.local/state/amplifier-tui/workspaces/3dfb127a/demo-project",
        why="mode ask: asks before writing in the workspace",
        payload_kind="none",
        scopes=("once", "session"),
        rule="edit_file(**)",
        meaning="edit_file on any path in the workspace",
        timeout=300.0,
        editable=True,
    )
    async with running(FakeClient(reach=reach), size=size) as drive:
        await drive.push(wanted)
        await drive.dialog(ApprovalDialog)
        await drive.settle()
        region = drive.app.screen.query_one("#sheet").region
        rows = [row[1:].strip() for row in drive.text().splitlines()[region.y : region.bottom]]
        assert "rule edit_file(**)" in drive.text() or size[0] == 80
        keys = next(at for at, row in enumerate(rows) if "Deny and say why" in row)
        inner = rows[next(at for at, row in enumerate(rows) if row) : keys]
        assert not [at for at, row in enumerate(inner[1:]) if not (row or inner[at])], inner
        of_diff = [row for row in inner if re.match(r"\d\d |parcels/rates.py|…|⋯", row)]
        if size == (80, 24):
            frame = [row for row in rows if row and row not in of_diff]
            assert len(of_diff) > len(frame), rows
