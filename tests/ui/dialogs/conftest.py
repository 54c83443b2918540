import pytest

from amplifier_tui.ui.dialogs.approval import ApprovalDialog


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ApprovalDialog, "grace", 0.0)
