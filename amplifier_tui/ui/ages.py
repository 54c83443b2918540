"""How long ago something was, in words."""

from amplifier_tui.ui.state.formats import plural


def ago(seconds: float) -> str:
    """Return an age in words: `just now`, `5 min ago`, `3 h ago`, `2 days ago`."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 60 * 24:
        return f"{minutes // 60} h ago"
    return f"{plural(minutes // (60 * 24), 'day')} ago"
