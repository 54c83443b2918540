import asyncio
import stat
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.exceptions import (
    BundleNotFoundError,
    SourceNotFetchedError,
    TrustRefusedError,
)
from amplifier_tui.foundation.paths import ParsedURI, ResolvedSource
from amplifier_tui.foundation.registry.registry import load_bundle
from amplifier_tui.foundation.sources import zip
from amplifier_tui.foundation.sources.context import FetchContext, FetchLimits
from amplifier_tui.foundation.sources.local import package_folder
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.sources.zip import unpack_zip
from amplifier_tui.foundation.trust.gate import TrustGate
from tests.foundation.helpers import allow, write


def resolver(tmp_path: Path, **context: Any) -> SimpleSourceResolver:
    options = {"gate": TrustGate(allow), **context}
    return SimpleSourceResolver(tmp_path / "cache", tmp_path, context=FetchContext(**options))


def archive(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as content:
        for name, text in files.items():
            content.writestr(name, text)
    return path


async def test_absolute_relative_and_file_uris_lead_to_the_path(tmp_path: Path) -> None:
    path = write(tmp_path / "a b" / "x.md", "")
    sources = resolver(tmp_path)
    for uri in (str(path), "./a b/x.md", f"file://{path}", path.as_uri()):
        assert (await sources.resolve(uri)).active_path == path
    found = await sources.resolve(f"file://{tmp_path}#subdirectory=a b")
    assert (found.active_path, found.source_root) == (path.parent, tmp_path)


async def test_a_missing_path_is_not_found(tmp_path: Path) -> None:
    for uri in ("./no", "/no/where", f"file://{tmp_path}/no", "/a\0b"):
        with pytest.raises(BundleNotFoundError):
            await resolver(tmp_path).resolve(uri)
    write(tmp_path / "d" / "f", "")
    with pytest.raises(BundleNotFoundError, match="leaves its source"):
        await resolver(tmp_path).resolve(f"file://{tmp_path}/d#subdirectory=..")


@pytest.mark.parametrize("colon", ["//", ":/", ":"])
@pytest.mark.parametrize("scheme", ["http", "git+https"])
async def test_a_uri_without_its_slashes_or_its_colon_is_no_package_of_python(
    tmp_path: Path, scheme: str, colon: str
) -> None:
    with pytest.raises(BundleNotFoundError) as caught:
        await resolver(tmp_path).resolve(f"{scheme}{colon}foo/x")
    assert str(caught.value).endswith(f"did you mean {scheme}://foo/x?")


async def test_a_windows_path_says_that_it_is_one(tmp_path: Path) -> None:
    with pytest.raises(BundleNotFoundError, match="Windows path"):
        await resolver(tmp_path).resolve("C:\\bundles\\x")


async def test_the_root_of_a_path_is_the_nearest_bundle_or_its_own_folder(tmp_path: Path) -> None:
    write(tmp_path / "r" / "bundle.md", "")
    inner = write(tmp_path / "r" / "a" / "x.yaml", "")
    lone = write(tmp_path / "l" / "y.yaml", "")
    sources = resolver(tmp_path)
    assert (await sources.resolve(str(inner))).source_root == tmp_path / "r"
    assert (await sources.resolve(str(lone))).source_root == tmp_path / "l"
    cached = write(tmp_path / "cache" / "clone-1" / "a" / "z.yaml", "")
    assert (await sources.resolve(str(cached))).source_root == tmp_path / "cache" / "clone-1"


@pytest.mark.parametrize("fragment", ["subdir=a", "subdirectroy=a", "egg=x&sub=a", "main"])
def test_a_fragment_that_means_nothing_is_refused(fragment: str, tmp_path: Path) -> None:
    for start in ("git+https://h/o/r@main", "https://h/b.yaml", "zip+https://h/b.zip", "file:///b"):
        with pytest.raises(BundleNotFoundError, match="means nothing") as caught:
            resolver(tmp_path).check(f"{start}#{fragment}")
        value = "a" if "=" in fragment else "PATH"
        assert f"#subdirectory={value}." in caught.value.remedy


def test_fragments_that_python_knows_and_paths_with_a_hash_are_let_be(tmp_path: Path) -> None:
    for uri in ("git+https://h/r#egg=x&subdirectory=a", "zip+https://h/b.zip#sha256=0", "/a/b#c"):
        resolver(tmp_path).check(uri)
    resolver(tmp_path).check("git+https://h/r#")


async def test_nobody_handles_an_unknown_scheme(tmp_path: Path) -> None:
    for uri in ("ftp://h/x", "", "zip+ftp://h/x.zip"):
        with pytest.raises(BundleNotFoundError):
            await resolver(tmp_path).resolve(uri)
    with pytest.raises(BundleNotFoundError, match="No handler for URI: ftp://h/x"):
        await resolver(tmp_path).resolve("ftp://h/x")


async def test_an_own_handler_comes_first(tmp_path: Path) -> None:
    class Mine:
        def can_handle(self, parsed: ParsedURI) -> bool:
            return parsed.scheme == "ftp"

        async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
            return ResolvedSource(tmp_path, tmp_path)

    sources = resolver(tmp_path)
    sources.add_handler(Mine())
    assert (await sources.resolve("ftp://h/x")).active_path == tmp_path
    assert (await sources.update("ftp://h/x")).active_path == tmp_path


async def test_the_default_cache_is_in_the_home(own_home: Path) -> None:
    assert SimpleSourceResolver().cache_dir == own_home / ".amplifier" / "cache" / "bundles"


async def test_an_archive_is_unpacked_once_and_again_when_it_changed(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.zip", {"bundle.yaml": "bundle: {name: z}", "sub/x.md": "1"})
    uri = f"zip+file://{path}"
    bundle = await load_bundle(uri, trust=allow)
    assert bundle.name == "z"
    sources = resolver(tmp_path)
    found = await sources.resolve(f"{uri}#subdirectory=sub")
    assert (found.active_path / "x.md").read_text() == "1"
    marker = write(found.source_root / "marker", "")
    await sources.resolve(uri)
    assert marker.exists()
    archive(path, {"sub/x.md": "2"})
    await sources.resolve(uri)
    assert (found.active_path / "x.md").read_text() == "2" and not marker.exists()


async def test_trust_and_offline_count_for_archives(tmp_path: Path) -> None:
    uri = f"zip+file://{archive(tmp_path / 'b.zip', {'x': '1'})}"
    with pytest.raises(TrustRefusedError):
        await SimpleSourceResolver(tmp_path / "cache").resolve(uri)
    with pytest.raises(SourceNotFetchedError):
        await resolver(tmp_path, offline=True).resolve(uri)
    with pytest.raises(BundleNotFoundError, match="File not found"):
        await resolver(tmp_path).resolve(f"zip+file://{tmp_path}/no.zip")


async def test_an_archive_unpacked_by_the_amplifier_cli_is_used(tmp_path: Path) -> None:
    from amplifier_tui.foundation.paths import parse_uri

    uri = "zip+https://h.invalid/b.zip"
    folder = zip.cache_path(tmp_path / "cache", parse_uri(uri))
    write(folder / "bundle.yaml", "")
    assert (await resolver(tmp_path, offline=True).resolve(uri)).active_path == folder


@pytest.mark.parametrize(
    "name", ["../evil", "/evil", "a/../../evil", "C:/evil", "..\\evil", "a/../evil"]
)
async def test_an_entry_that_would_land_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / "b.zip", {"ok": "1", name: "x"})
    with pytest.raises(BundleNotFoundError, match="unsafe path"):
        await resolver(tmp_path).resolve(f"zip+file://{path}")
    assert list((tmp_path / "cache").iterdir()) == []
    assert not list(tmp_path.rglob("evil"))


async def test_a_symbolic_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w") as content:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        content.writestr(info, "/etc/passwd")
    with pytest.raises(BundleNotFoundError, match="symbolic link"):
        await resolver(tmp_path).resolve(f"zip+file://{path}")


async def test_a_zip_bomb_is_refused_while_it_unpacks(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.zip", {"zeros": "0" * 5_000_000, "more": "0" * 5_000_000})
    assert path.stat().st_size < 50_000
    limits = FetchLimits(archive_bytes=6_000_000)
    with pytest.raises(BundleNotFoundError, match="more than 6,000,000 bytes"):
        await resolver(tmp_path, limits=limits).resolve(f"zip+file://{path}")
    with pytest.raises(BundleNotFoundError, match="more than 1 entries"):
        await resolver(tmp_path, limits=FetchLimits(archive_entries=1)).resolve(
            f"zip+file://{path}"
        )
    assert not list((tmp_path / "cache").glob("*"))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 broken"])
async def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(content)
    with pytest.raises(BundleNotFoundError, match=r"Cannot unpack b\.zip"):
        await resolver(tmp_path).resolve(f"zip+file://{path}")


def test_unpacking_stops_when_nobody_wants_it_any_more(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.zip", {"x": "1"})
    stop = threading.Event()
    stop.set()
    with pytest.raises(BundleNotFoundError, match="Cancelled"):
        unpack_zip(path, tmp_path / "out", FetchLimits(), stop)
    assert not (tmp_path / "out").exists()


def test_programs_in_an_archive_stay_executable(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w") as content:
        info = zipfile.ZipInfo("run.sh")
        info.external_attr = 0o100755 << 16
        content.writestr(info, "#!/bin/sh")
        content.writestr("folder/", "")
    unpack_zip(path, tmp_path / "out", FetchLimits())
    assert (tmp_path / "out" / "run.sh").stat().st_mode & 0o100
    assert (tmp_path / "out" / "folder").is_dir()


async def test_an_installed_package_is_found_by_name_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for name in ("amplifier_module_tool_zz", "zz_pack"):
        write(tmp_path / "site" / name / "__init__.py", "raise RuntimeError('imported')")
    write(tmp_path / "site" / "zz_pack" / "bundle.yaml", "bundle: {name: packaged}")
    monkeypatch.syspath_prepend(tmp_path / "site")
    sources = resolver(tmp_path)
    found = await sources.resolve("tool-zz")
    assert found.active_path == tmp_path / "site" / "amplifier_module_tool_zz"
    assert (await load_bundle("zz_pack")).name == "packaged"
    assert "zz_pack" not in sys.modules
    with pytest.raises(BundleNotFoundError, match="leaves its source"):
        await sources.resolve("zz_pack/../..")


@pytest.mark.parametrize("name", ["", "os", "no-such-thing", "../x", "a b", "json.decoder", ".x"])
def test_what_is_no_package_has_no_folder(name: str) -> None:
    assert package_folder(name) is None


async def test_concurrent_requests_for_one_archive_unpack_it_once(tmp_path: Path) -> None:
    uri = f"zip+file://{archive(tmp_path / 'b.zip', {'x': '1'})}"
    sources = resolver(tmp_path)
    found = await asyncio.gather(*(sources.resolve(uri) for _ in range(4)))
    assert len(set(found)) == 1
