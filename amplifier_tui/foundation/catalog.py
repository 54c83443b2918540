"""Which bundles there are, and which one is meant."""

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.dicts import get_nested
from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.io import frontmatter_fault
from amplifier_tui.foundation.paths import (
    BUNDLE_FILES,
    bundle_file_in,
    home_expanded,
    is_there,
    normalize_path,
    parse_uri,
    redact_uri,
)
from amplifier_tui.foundation.registry.includes import is_path, namespace_of
from amplifier_tui.foundation.registry.state import BundleState
from amplifier_tui.foundation.settings.settings import PROJECT_SCOPES, Settings
from amplifier_tui.foundation.trust.owners import Owner

_SUFFIXES = (".yaml", ".yml", ".md")
_FILES = ("project", "user", "shipped")
"""Origins of bundles that lie in a folder of bundles, and have their names from there."""
_URIS = ("git+", "file://", "http://", "https://", "zip+")


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """A bundle that can be opened: its name, and its path or URI.

    `origin` is `project`, `user`, `added` (settings), `shipped`, or the URI itself.
    """

    name: str
    source: str
    origin: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The bundle of a session; `notice` says why it is not the configured one.

    `chosen_by` is whose word it is that this one is opened. `gone` is the one that the session was
    held with, where that is not there any more.
    """

    entry: BundleEntry
    notice: str = ""
    chosen_by: Owner = Owner.USER
    gone: str = ""


@dataclass(frozen=True)
class BundleCatalog:
    """The bundles of a project, its user and this program, found without the network.

    A name in several places means the first of: the project's `.amplifier/bundles`, the home's
    `bundles`, `bundle.added`, what was explicitly requested before, what is shipped, the rest of
    the registry (which is not listed: it is what other bundles brought along).
    """

    home: Path
    project: Path | None
    settings: Settings
    states: Mapping[str, BundleState]
    shipped: Sequence[Path] = ()
    brought: bool = True
    """Whether what the project brings is among them."""

    def entries(self) -> list[BundleEntry]:
        """Return every bundle to show, each name once, sorted."""
        found: dict[str, BundleEntry] = {}
        for entry in self._all(requested_only=True):
            found.setdefault(entry.name, entry)
        return sorted(found.values(), key=lambda entry: entry.name.lower())

    def find(self, name: str) -> BundleEntry | None:
        """Return the bundle that a name, path or URI means, or None."""
        if name.startswith(_URIS) or namespace_of(name) is not None:
            return BundleEntry(name, name, redact_uri(name))
        if is_path(name) or name.startswith("~"):
            return self._at(name)
        named = next((entry for entry in self._all() if entry.name == name), None)
        if named is None and name.endswith(_SUFFIXES):
            return self._at(name)
        return named or self._text(name)

    def reference_of(self, entry: BundleEntry) -> str:
        """Return what finds a bundle again: its name, unless that means another one."""
        return entry.name if self.find(entry.name) == entry else entry.source

    def in_place_of(self, entry: BundleEntry) -> BundleEntry | None:
        """Return the bundle from elsewhere that would be shown without this one, or None."""
        if self.find(entry.name) != entry:
            return None
        named = (each for each in self._all(requested_only=True) if each.name == entry.name)
        others = (each for each in named if each.origin != entry.origin)
        return next((each for each in others if not _same(each.source, entry.source)), None)

    def hides_another(self, entry: BundleEntry) -> bool:
        """Whether it is the project's, and its name would mean another one elsewhere."""
        return entry.origin == "project" and any(
            each.name == entry.name and each.origin != "project" for each in self._all()
        )

    def taken_by(self, name: str, source: str) -> BundleEntry | None:
        """Return the file of the project, the user or this program that has a name, or None.

        Not if it is the very bundle that is to have it.
        """
        named = (each for each in self._all() if each.name == name and each.origin in _FILES)
        return next((each for each in named if not _same(each.source, source)), None)

    def choose(self, requested: str = "", resumed: str = "", default: str = "") -> Choice:
        """Decide which bundle a session gets: `requested`, else `resumed`, else the configured one.

        `resumed` is what the session was opened with, `bundle:<name>` or a name; `unknown` is what
        the Amplifier CLI writes for none. `default` is taken when nothing that is configured is
        there.

        Raises:
            BundleNotFoundError: What was requested is not there, or not even the default is.
        """
        if requested:
            entry = self.find(requested)
            if entry is None:
                names = [entry.name for entry in self.entries()]
                raise BundleNotFoundError(
                    f"There is no bundle {requested!r}{did_you_mean(requested, names)}",
                    remedy=f"Known are: {', '.join(names)}.",
                )
            return Choice(entry, chosen_by=self._chosen_by(entry, "bundle.added", entry.name))
        notice = gone = ""
        for wanted in (resumed.removeprefix("bundle:"), self.settings.active_bundle, default):
            if not wanted or wanted == "unknown":
                continue
            entry = self.find(wanted)
            if entry is not None:
                said = f"{notice}; using '{entry.name}'" if notice else ""
                return Choice(entry, said, self._chosen_by(entry, "bundle.active", wanted), gone)
            notice = notice or f"There is no bundle '{wanted}' any more"
            gone = wanted if resumed.removeprefix("bundle:") == wanted else gone
        raise BundleNotFoundError(
            notice or "No bundle is configured", remedy="Name one with --bundle."
        )

    def _chosen_by(self, entry: BundleEntry, path: str, value: str) -> Owner:
        """Return who has the last word on a setting, if that is what the choice rests on.

        Of a name that was added, it is also whoever says what it means.
        """
        scopes = self.settings.by_scope.items()
        rests_on = [{scope for scope, data in scopes if value in _said(data, path)}]
        if entry.origin == "added":
            meant = self.settings.added_bundles.get(entry.name)
            added = ((scope, _said(data, "bundle.added")) for scope, data in scopes)
            rests_on.append({s for s, said in added if _meaning(said, entry.name) == meant})
        ours = any(known and known <= PROJECT_SCOPES for known in rests_on)
        return Owner.PROJECT if ours else Owner.USER

    def _text(self, name: str) -> BundleEntry | None:
        """Return a text among the bundles: who asks for it by name is told what it lacks."""
        for folder, origin in self._own_folders():
            path = folder / f"{name}.md"
            if path.parent == folder and is_there(path) and path.is_file():
                return BundleEntry(name, str(path), origin)
        return None

    def _own_folders(self) -> Iterator[tuple[Path, str]]:
        if self.project is not None and self.brought:
            yield self.project / ".amplifier" / "bundles", "project"
        yield self.home / "bundles", "user"

    def _at(self, text: str) -> BundleEntry | None:
        try:
            path = normalize_path(text, self.project)
        except BundleNotFoundError:
            return None
        return BundleEntry(_name_of(path), str(path), str(path)) if is_there(path) else None

    def _all(self, *, requested_only: bool = False) -> Iterator[BundleEntry]:
        for folder, origin in self._own_folders():
            yield from bundles_in(folder, origin)
        added = self.settings.added_bundles if self.brought else self.settings.added_by_user
        for name, uri in added.items():
            yield BundleEntry(name, self._absolute(uri), "added")
        yield from self._registered(requested=True)
        for folder in self.shipped:
            yield from bundles_in(folder, "shipped")
        if not requested_only:
            yield from self._registered(requested=False)

    def _registered(self, *, requested: bool) -> Iterator[BundleEntry]:
        for name, state in self.states.items():
            vanished = is_path(state.uri) and not is_there(Path(state.uri))
            if state.explicitly_requested == requested and not vanished:
                yield BundleEntry(name, state.uri, redact_uri(state.uri))

    def _absolute(self, uri: str) -> str:
        if not (is_path(uri) or uri.startswith("~")):
            return uri
        try:
            return str(normalize_path(uri, self.project))
        except BundleNotFoundError:
            return uri  # opening it tells what is wrong with it


def _said(data: dict[str, Any], path: str) -> Any:
    found = get_nested(data, path)
    return found if isinstance(found, dict) else (found,)


def _meaning(added: Any, name: str) -> str | None:
    found = added.get(name) if isinstance(added, dict) else None
    return None if found is None else home_expanded(str(found))


def named_bundles(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the bundles that lie in folders, by the names their files give them."""
    found: dict[str, Path] = {}
    for folder in folders:
        for entry in bundles_in(folder):
            found.setdefault(entry.name, Path(entry.source))
    return found


def _name_of(path: Path) -> str:
    path = path.parent if path.name in BUNDLE_FILES else path
    return path.stem if path.suffix in _SUFFIXES else path.name


def _is_bundle(file: Path) -> bool:
    """Whether a file is meant to be one: Markdown without a frontmatter is a text to read.

    What is empty, or is no UTF-8, can't be read as a text either: it is listed with what is wrong.
    """
    if file.name.startswith(".") or file.stem.upper() == "README":
        return False
    if file.suffix != ".md":
        return True
    try:
        with file.open("rb") as stream:
            # A letter that is cut at the end is no mistake.
            head = getincrementaldecoder("utf-8")().decode(stream.read(512))
        begins = head.removeprefix("\ufeff").startswith("---")
        return not head.strip() or begins or frontmatter_fault(head) is not None
    except (OSError, UnicodeDecodeError):
        return True  # it is listed, and its preview says what is wrong with it


def _same(source: str, other: str) -> bool:
    """Whether two sources are the same bundle on this machine, however they are spelled."""
    return source == other or _place_of(source) == _place_of(other)


def _place_of(source: str) -> Path | str:
    parsed = parse_uri(source)
    if not parsed.is_file or parsed.subpath:
        return source
    try:
        path = normalize_path(parsed.path)
    except BundleNotFoundError:
        return source
    return bundle_file_in(path) or path


def bundles_in(folder: Path, origin: str = "") -> Iterator[BundleEntry]:
    """Yield `name/bundle.md`, `name/bundle.yaml`, `name.yaml`, `name.yml` and `name.md`."""
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return
    for child in children:
        if child.is_dir() and bundle_file_in(child) is not None:
            yield BundleEntry(child.name, str(child), origin)
    for suffix in _SUFFIXES:
        for child in children:
            if child.suffix == suffix and child.is_file() and _is_bundle(child):
                yield BundleEntry(child.stem, str(child), origin)
