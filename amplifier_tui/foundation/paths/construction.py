"""Conventional places inside a bundle's folder."""

from pathlib import Path


def construct_agent_path(base: Path, name: str) -> Path:
    """Return `base/agents/<name>.md`; a name that ends in `.md` is taken as it is."""
    return base / "agents" / (name if name.endswith(".md") else f"{name}.md")


def construct_context_path(base: Path, name: str) -> Path:
    """Return `base/<name>`; leading slashes of the name are dropped, so empty is `base`."""
    relative = name.lstrip("/")
    return base / relative if relative else base
