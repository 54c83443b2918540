"""Sessions. Public API as `amplifier_core.session`."""

from amplifier_tui.kernel.mounting.errors import exception_text as _safe_exception_str
from amplifier_tui.kernel.session.session import AmplifierSession, initialize_session

__all__ = ["AmplifierSession", "_safe_exception_str", "initialize_session"]
