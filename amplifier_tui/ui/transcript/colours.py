"""The colours of the transcript: its component classes and their rules."""

PREFIX = "transcript--"

COMPONENT_CLASSES = frozenset(
    PREFIX + name
    for name in (
        *("text", "muted", "secondary", "strong", "heading", "code", "link", "quote"),
        *("user", "edge", "error-edge", "thinking", "running", "success", "warning", "error"),
        *("added", "removed", "fence", "syn-keyword", "syn-string", "syn-comment"),
        *("syn-number", "syn-name", "syn-type", "cursor", "pill"),
    )
)

DEFAULT_CSS = """
DocumentView {
    background: $background;
    color: $foreground;
    scrollbar-background: $background;
    scrollbar-background-hover: $background;
    scrollbar-background-active: $background;
    scrollbar-color: $panel;
    scrollbar-color-hover: $text-muted;
    scrollbar-color-active: $primary;

    & > .transcript--text { color: $foreground; }
    & > .transcript--secondary, & > .transcript--quote { color: $foreground 85%; }
    & > .transcript--muted { color: $text-muted; }
    & > .transcript--strong, & > .transcript--heading, & > .transcript--user {
        color: $foreground; text-style: bold;
    }
    & > .transcript--thinking { color: $text-muted; text-style: italic; }
    & > .transcript--code { color: $primary; text-style: bold; }
    & > .transcript--link { color: $primary; text-style: underline; }
    & > .transcript--edge, & > .transcript--running { color: $primary; }
    & > .transcript--success, & > .transcript--added { color: $success; }
    & > .transcript--warning { color: $warning; }
    & > .transcript--error, & > .transcript--error-edge, & > .transcript--removed {
        color: $error;
    }
    & > .transcript--cursor { background: $surface; }
    & > .transcript--pill { background: $panel; color: $foreground; text-style: bold; }

    & > .transcript--fence { background: $surface; color: $foreground; }
    & > .transcript--syn-keyword { background: $surface; color: $primary; }
    & > .transcript--syn-string { background: $surface; color: $success; }
    & > .transcript--syn-number { background: $surface; color: $warning; }
    & > .transcript--syn-type { background: $surface; color: $accent; }
    & > .transcript--syn-name { background: $surface; color: $foreground; text-style: bold; }
    & > .transcript--syn-comment {
        background: $surface; color: $text-muted; text-style: italic;
    }

    &:ansi {
        & > .transcript--muted, & > .transcript--thinking, & > .transcript--syn-comment,
        & > .transcript--secondary {
            color: $foreground; text-style: dim;
        }
        & > .transcript--cursor { text-style: reverse; }
        & > .transcript--pill { text-style: reverse; }
    }
}
"""
