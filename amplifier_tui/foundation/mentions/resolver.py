"""From a mention to a path, and which paths a stranger's text may name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from amplifier_tui.base.protected import holds_secrets
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.mentions.secrets import holds_users_secrets
from amplifier_tui.foundation.paths import get_amplifier_home, is_within

_FOR_ALL = "AGENTS.md"
"""The file of the Amplifier home in which a user tells every agent something."""


class BaseMentionResolver:
    """Resolves `@ns:path` in bundles, `@~/path` in the user's home, anything else in a folder.

    Plain mentions are looked for in `base_path` (default: the working folder), then in `fallbacks`.
    Files that are `granted`, by their real paths, may be mentioned by anybody, and what holds keys
    by nobody.
    """

    def __init__(
        self,
        bundles: Mapping[str, BundleData] | None = None,
        base_path: Path | None = None,
        *,
        fallbacks: Sequence[Path] = (),
        granted: Sequence[Path] = (),
    ) -> None:
        self.bundles = dict(bundles or {})
        self.base_path = base_path or Path.cwd()
        self._folders = (self.base_path, *fallbacks)
        self._granted = frozenset(granted)

    def register_bundle(self, name: str, bundle: BundleData) -> None:
        """Add a namespace, or replace it."""
        self.bundles[name] = bundle

    def resolve(self, mention: str) -> Path | None:
        """Return the existing file or folder a mention names, or None.

        Mentions of users and of their own bundles may name any path they can read.
        """
        return self._resolve(mention, confined=False)

    def resolve_confined(self, mention: str) -> Path | None:
        """Resolve a mention that stands in a text which is not the user's.

        Such a text reaches the folders of this resolver, the namespaces' own trees, the user's
        `AGENTS.md` in the Amplifier home, and the files that are granted; nothing
        else, whatever `..` or links it uses, and of the first two no keys or passwords.
        """
        return self._resolve(mention, confined=True)

    def locate(self, mention: str) -> Path | None:
        """Return what a mention names, also where it holds keys: not for reading it."""
        return self._locate(mention, confined=False)

    def _locate(self, mention: str, *, confined: bool) -> Path | None:
        text = mention.removeprefix("@")
        if not text or text == mention or "\0" in text:
            return None
        # A full stop behind a mention ends the sentence, unless a file has it in its name.
        names = dict.fromkeys((text, text.rstrip(".") or text))
        try:
            return next(filter(None, (self._find(name, confined) for name in names)), None)
        except (OSError, ValueError, RuntimeError):
            return None

    def _resolve(self, mention: str, *, confined: bool) -> Path | None:
        path = self._locate(mention, confined=confined)
        if path is None or holds_users_secrets(path):
            return None
        # A `.env` in the folder is the user's, whoever wrote the text.
        kept = confined and holds_secrets(path.resolve()) and not self._is_granted(path)
        return None if kept else path

    def _find(self, text: str, confined: bool) -> Path | None:
        namespace, separator, rest = text.partition(":")
        if separator:
            return self._in_bundle(namespace, rest, confined)
        if text.startswith("~"):
            found = existing_mention(Path(text).expanduser(), follow=confined)
            return found if found is None or not confined or self._is_granted(found) else None
        for folder in self._folders:
            found = existing_mention(folder / text, follow=confined)
            if found is None:
                continue
            if not confined or is_within(found, folder) or self._is_granted(found):
                return found
        return None

    def _is_granted(self, path: Path) -> bool:
        found = path.resolve()
        return found in self._granted or found == (get_amplifier_home() / _FOR_ALL).resolve()

    def _in_bundle(self, namespace: str, path: str, confined: bool) -> Path | None:
        bundle = self.bundles.get(namespace)
        if bundle is None:
            return None
        covered = bundle.covered_base_paths.get(namespace, ())
        every = (bundle, *(replace(bundle, base_path=folder) for folder in covered))
        found = (self._in_folder(each, path, confined) for each in every)
        return next(filter(None, found), None)

    def _in_folder(self, bundle: BundleData, path: str, confined: bool) -> Path | None:
        found = bundle.resolve_context_path(path)
        if found is None or not confined:
            return found
        if path in bundle.context:
            return found if bundle.still_allows(found) else None
        found = found.resolve()
        if bundle.base_path is None:
            return found
        return found if is_within(found, bundle.base_path) or self._is_granted(found) else None


def existing_mention(path: Path, *, follow: bool = False) -> Path | None:
    """Return the file or folder a mention's path means, `.md` added if need be, or None.

    With `follow` links are followed here, so that what is judged is what is read.
    """
    for candidate in (path, path.with_name(f"{path.name}.md") if path.name else path):
        if candidate.exists():
            return candidate.resolve() if follow else candidate
    return None
