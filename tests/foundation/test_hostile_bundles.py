import json
from pathlib import Path

import pytest

from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.registry.registry import load_bundle
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import allow, write

TEXTS = [
    "~nobody/x",
    "~nobody",
    "~:x",
    "~",
    "a\0b",
    "./a\0b",
    "ns:\0",
    "file:///a\0b",
    "git+file:///a\0b@main",
    "zip+file:///a\0b",
    "https://[::1",
    "git+https://[",
    "x" * 5000,
    "./" + "x" * 300,
    "ns:" + "x" * 300,
    "../" * 60,
    "C:\\x",
    "\\\\srv\\share",
    "mine:../../../../etc/passwd",
    "\ud83d\ude42 \u202e\x1b[31m",
    ":",
    "@",
    "@:",
    "//",
    ".",
    "..",
    " ",
    "#subdirectory=..",
    "file://#subdirectory=../..",
]


@pytest.mark.parametrize("text", TEXTS, ids=[repr(text)[:30] for text in TEXTS])
async def test_no_text_in_a_bundle_makes_it_more_than_an_error(tmp_path: Path, text: str) -> None:
    module = {"module": text, "source": text}
    data = {
        "bundle": {"name": "mine", "description": text},
        "includes": [text],
        "context": {"include": [text, f"mine:{text}"], "named": text},
        "agents": {"include": [text, f"mine:{text}"], "inline": {"tools": [module]}},
        "session": {"orchestrator": module, "context": module},
        "tools": [module, {"module": "t", "source": f"./{text}"}],
        "providers": [module],
        "hooks": [{"module": "h", "source": f"file://{text}"}],
    }
    path = write(tmp_path / ".amplifier" / "bundles" / "mine.yaml", json.dumps(data))
    workspace = Workspace.open(tmp_path)
    preview = await workspace.preview("mine")
    assert preview.state in ("ready", "needs_key", "not_fetched", "incomplete", "invalid")
    assert isinstance(preview_findings(preview), list)
    assert await workspace.previews()
    try:
        bundle = await load_bundle(path, trust=allow)
    except BundleError:
        return
    assert bundle.name == "mine"


@pytest.mark.parametrize("text", TEXTS, ids=[repr(text)[:30] for text in TEXTS])
async def test_no_name_makes_looking_for_a_bundle_more_than_an_error(
    tmp_path: Path, text: str
) -> None:
    settings = {"bundle": {"active": text, "added": {"far": text, text: text}, "app": [text]}}
    write(tmp_path / ".amplifier" / "settings.yaml", json.dumps(settings))
    workspace = Workspace.open(tmp_path)
    await workspace.previews()
    assert (await workspace.preview(text)).state in ("invalid", "not_fetched")
    for name in (text, "far"):
        with pytest.raises(BundleError):
            await workspace.load(name)
