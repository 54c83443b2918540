"""Which folders of skills a session may use: those of the project are asked about, one by one."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import yaml

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.secrets import replace_secrets
from amplifier_tui.base.text import shortened
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.io import parse_frontmatter
from amplifier_tui.foundation.paths import is_within
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.trust.code import tree_digest
from amplifier_tui.foundation.trust.items import make_item
from amplifier_tui.foundation.trust.layers import plain_id
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.trust.review import TrustReview

MODULE: Final = "tool-skills"
OF_PROJECT: Final = (".agents/skills", ".claude/skills", ".amplifier/skills")
"""Where the skills of a project are."""

_FILE: Final = "SKILL.md"
_MOST_BYTES: Final = 256 * 1024
_SHOWN: Final = 1_100
_MOST_NAMED: Final = 8


def review_skills(bundle: BundleData, review: TrustReview) -> None:
    """Have each entry of the built-in module name the skills it may use, in place. Blocking.

    `skills` gets absolute paths, and `project_skills` the folders of the project's own.
    """
    entries = [each for each in entries_of(bundle) if plain_id(each.module) == MODULE]
    if not entries:
        return
    asking = _Asking(bundle, review)
    places = [review.places.project / name for name in OF_PROJECT]
    # Who works in the home folder has there what is the user's own.
    users = [*(user_home() / name for name in OF_PROJECT), review.places.home / "skills"]
    own = [text for place in places if place not in users for text in asking.usable(place)]
    for entry in entries:
        config = entry.data.get("config") or {}
        # Another module of that id reads its settings in its own way.
        if not entry.data.get("source") and isinstance(config, dict):
            named = _texts(config.get("skills"))
            skills = [found for text in named for found in asking.named(text)]
            more = {"skills": skills} if named else {}
            entry.data["config"] = {**config, **more, "project_skills": own}


class _Asking:
    """Asks about the skills of one opening."""

    def __init__(self, bundle: BundleData, review: TrustReview) -> None:
        self._bundle = bundle
        self._review = review
        self._project = review.places.project
        self._is_own = review.places.owner_of(self._project).is_trusted

    def named(self, text: str) -> list[str]:
        """Return the folders that a setting stands for, as far as they may be used."""
        if text.startswith("@"):
            namespace, _, rest = text[1:].partition(":")
            folder = self._bundle.folder_of(namespace, rest)
            if folder is None:
                return [text]
            place = folder / rest
            if not is_within(place, folder):
                self._leave_out(place, f"{text} leads out of the bundle's folder")
                return []
        else:
            try:
                given = Path(text).expanduser()
            except (RuntimeError, ValueError):
                return [text]  # the home of nobody, or no path
            place = self._project / given
            if not given.is_absolute() and not self._is_own and not is_within(place, self._project):
                self._leave_out(place, f"{text} leads out of the project")
                return []
        if self._owner(place) is not Owner.PROJECT:
            return [str(place)]
        if not os.path.isdir(place):
            # Not left to the module to say: one that is made later was not asked about.
            self._leave_out(place, f"{text}: there is no such folder")
            return []
        return self.usable(place)

    def usable(self, place: Path) -> list[str]:
        """Return the folders of skills in a place of the project, or itself, that may be used."""
        return [str(folder) for folder in _skills_in(place) if self._allows(folder)]

    def _owner(self, place: Path) -> Owner:
        # What a bundle of strangers brings was asked about as their code.
        inside = is_within(place, self._project)
        return self._review.places.owner_of(place) if inside else Owner.USER

    def _allows(self, folder: Path) -> bool:
        if self._is_own:
            return True
        if not is_within(folder, self._project):
            self._leave_out(folder, "it is a link that leads out of the project")
            return False
        content = tree_digest(folder)
        if not content:
            self._leave_out(folder, "it can't be read, or is too large to be looked at")
            return False
        return self._review.allows(
            make_item(
                "skills",
                folder.name,
                subject=("skill", str(folder)),
                content=content,
                owner=str(self._project),
                detail=f"{_description(folder / _FILE)}{_files(folder)}",
                where=str(folder / _FILE),
            )
        )

    def _leave_out(self, folder: Path, why: str) -> None:
        item = ReportItem(
            what=f"skill {folder.name}",
            kind="skipped",
            part="skills",
            why=why,
            owner=Owner.PROJECT,
            where=str(folder),
        )
        self._review.leave_out(item)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _skills_in(place: Path) -> Iterator[Path]:
    """Yield the folder itself if it is a skill, else those in it that are."""
    try:
        if (place / _FILE).is_file():
            yield place
        elif place.is_dir():
            yield from sorted(path for path in place.iterdir() if (path / _FILE).is_file())
    except (OSError, ValueError):
        return  # not a place that can be read


def _files(folder: Path) -> str:
    """Return the first files that come with a skill, scripts mostly, as the end of a sentence."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path != folder / _FILE)
    found = [str(path.relative_to(folder)) for path in islice(paths, _MOST_NAMED + 1)]
    if not found:
        return ""
    more = " and more" if len(found) > _MOST_NAMED else ""
    return f" · with {', '.join(sorted(found[:_MOST_NAMED]))}{more}"


def _description(path: Path) -> str:
    """Return what a skill says about itself, secrets taken out."""
    try:
        head, _ = parse_frontmatter(read_regular(path, _MOST_BYTES).decode("utf-8-sig"))
        text = head["description"]
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        # The module says what is wrong with it.
        return "its description can't be read"
    return shortened(replace_secrets(str(text), lambda secret, kind: "…"), _SHOWN)
