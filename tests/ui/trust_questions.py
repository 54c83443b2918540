"""Questions of trust for tests."""

from typing import Any

from amplifier_tui.host.events import TrustAnswered, TrustAsked, TrustItem
from tests.ui.fake_client import SESSION

FOLDER = "/home/u/src/app"


def source(n: int = 1, owner: str = "github.com/acme", **values: Any) -> TrustItem:
    """Return an item of code."""
    uri = f"git+https://{owner}/tool-{n}@main"
    return item(
        f"code-{owner}-{n}",
        group="code",
        owner=owner,
        title=f"tool-{n}",
        detail=f"{uri} · at 1a2b3c4d5e6f · asked for by demo",
        where=f"{FOLDER}/.amplifier/bundles/demo.md:{n + 10}",
        **values,
    )


def power(key: str = "power", **values: Any) -> TrustItem:
    """Return a setting of what guards the user."""
    defaults = {
        "group": "power",
        "owner": FOLDER,
        "title": "hooks-approval · policy",
        "detail": 'policy: "relaxed"',
        "where": f"{FOLDER}/.amplifier/settings.yaml:4",
    }
    return item(key, **{**defaults, **values})


def item(key: str, **values: Any) -> TrustItem:
    defaults: dict[str, Any] = {"group": "code", "owner": "", "title": key, "subject": key}
    return TrustItem(key=key, **{**defaults, **values})


def asked(*items: TrustItem, request_id: str = "t1", **values: Any) -> TrustAsked:
    """Return the question about some items."""
    defaults: dict[str, Any] = {
        "session_id": SESSION,
        "title": "app brings what needs your word",
        "folder": FOLDER,
    }
    return TrustAsked(request_id=request_id, items=items, **{**defaults, **values})


def many() -> TrustAsked:
    """Return a question about 90 sources of five publishers, two settings, a file and a key."""
    publishers = ("microsoft", "acme", "example", "kit", "one")
    sizes = (60, 17, 8, 4, 1)
    sources = [
        source(n, f"github.com/{name}")
        for name, size in zip(publishers, sizes, strict=True)
        for n in range(size)
    ]
    return asked(
        *sources,
        power(),
        power("allow", title="hooks-approval · allow", detail='allow: ["bash(*)"]'),
        item("file", group="files", owner=FOLDER, title="/home/u/notes.md", detail="context"),
        item("key", group="keys", owner="bundle demo", title="DEMO_KEY to api.example.com"),
    )


def answered(request_id: str = "t1") -> TrustAnswered:
    """Return that a question was answered."""
    return TrustAnswered(session_id=SESSION, request_id=request_id)
