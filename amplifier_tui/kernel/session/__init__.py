"""Sessions. Public API as `amplifier_core.session`."""

from amplifier_tui.kernel.mounting.errors import exception_text as _safe_exception_str
from amplifier_tui.kernel.session.initialize import initialize_session
from amplifier_tui.kernel.session.session import AmplifierSession

__all__ = ["AmplifierSession", "_safe_exception_str", "initialize_session"]
