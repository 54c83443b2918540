import pytest

from amplifier_tui.ui.dialogs.approval import ApprovalDialog


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key decide at once: tests press no keys by accident."""
    monkeypatch.setattr(ApprovalDialog, "grace", 0.0)
    monkeypatch.setattr(ApprovalDialog, "alone", 0.0)
