from pathlib import Path

from amplifier_tui.foundation.registry.registry import load_bundle
from tests.foundation.helpers import allow, write
from tests.waiting import within


async def test_a_bundle_with_twenty_unreachable_includes_opens_and_names_each(
    tmp_path: Path,
) -> None:
    uris = [f"git+https://host{number}.invalid/o/r@main" for number in range(20)]
    listed = "".join(f"  - {uri}\n" for uri in uris)
    text = f"bundle: {{name: top}}\nincludes:\n{listed}tools: [{{module: t}}]\n"
    path = write(tmp_path / "top.yaml", text)
    async with within(20):
        bundle = await load_bundle(path, trust=allow)
    assert bundle.tools == [{"module": "t"}]
    assert [entry.source for entry in bundle.skipped] == uris
    assert all("Could not resolve host" in entry.reason for entry in bundle.skipped)


async def test_without_trust_no_include_is_fetched_and_each_is_named(tmp_path: Path) -> None:
    path = write(
        tmp_path / "top.yaml",
        "bundle: {name: top}\nincludes: [git+https://a.invalid/r, https://b.invalid/x.yaml]\n",
    )
    bundle = await load_bundle(path)
    assert [entry.kind for entry in bundle.skipped] == ["refused", "refused"]
