"""One project with its user's settings: list, preview, load and prepare its bundles.

This is what a host uses. Nothing here starts a session; `PreparedBundle.create_session` does.
"""

import asyncio
import logging
import os
from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.model import is_settings_origin
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.bundle.preparing import modules_with_source
from amplifier_tui.foundation.catalog import BundleCatalog, BundleEntry, Choice
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.exceptions import (
    BundleError,
    BundleLoadError,
    BundleNotFoundError,
    TrustRefusedError,
)
from amplifier_tui.foundation.paths import get_amplifier_home, is_there
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.registry.project_bundles import ProjectBundles, Trust
from amplifier_tui.foundation.registry.registry import BundleRegistry
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.settings.expand import expand_plan
from amplifier_tui.foundation.settings.keys import load_keys
from amplifier_tui.foundation.settings.settings import (
    SettingsFiles,
    SettingsProblem,
    load_settings,
)
from amplifier_tui.foundation.sources.context import FetchContext, requested_by
from amplifier_tui.foundation.sources.lockfile import LockFile
from amplifier_tui.foundation.trust.gate import TrustGate, shipped_only
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.foundation.trust.keys.addresses import is_spare, missing_keys
from amplifier_tui.foundation.trust.layers import review_settings
from amplifier_tui.foundation.trust.owners import Owner, Ownership
from amplifier_tui.foundation.trust.refusing import remove_refused
from amplifier_tui.foundation.trust.review import MOST_QUESTIONS, OnlyLooking, TrustReview
from amplifier_tui.foundation.trust.servers.reviewing import review_servers
from amplifier_tui.foundation.trust.servers.unset import mark_unset
from amplifier_tui.foundation.trust.skills import review_skills

if TYPE_CHECKING:
    from amplifier_tui.foundation.checks.preview import BundleDescription
    from amplifier_tui.foundation.updates import SourceUpdate

_log = logging.getLogger(__name__)


@dataclass
class Workspace(ProjectBundles):
    """A project, its user's settings and keys, and the bundles that can be opened in it.

    In its methods, `name` is a name, path or URI; `trust` answers for what a project or a stranger
    brings before any of it counts (the default allows only what is shipped): a callback one by one,
    `TrustAnswers` all at once; and `progress` is told what goes on.
    """

    @classmethod
    def open(
        cls,
        project: Path,
        *,
        shipped: Sequence[Path] = (),
        session_dir: Path | None = None,
        environ: MutableMapping[str, str] | None = None,
    ) -> "Workspace":
        """Read the settings, keys and lock of a project; nothing broken in them is fatal.

        `shipped` are folders of bundles that come with the program, `session_dir` that of a session
        with settings of its own. `environ` (default `os.environ`) gets the keys.
        """
        home = get_amplifier_home()
        environ = os.environ if environ is None else environ
        keys = load_keys(home, environ)
        files = SettingsFiles.for_project(project, home=home, session=session_dir)
        settings = load_settings(files)
        problems = [*settings.problems, *keys.problems]
        lock: LockFile | None = None
        try:
            lock = LockFile.for_project(project)
        except BundleError as error:
            where = error.path or project
            problems.append(SettingsProblem(where, error.message, error.line))
        return cls(home, project, settings, keys, lock, tuple(shipped), environ, problems)

    def choose(self, requested: str = "", resumed: str = "", default: str = "") -> Choice:
        """Decide which bundle a session gets; see `BundleCatalog.choose`."""
        return self.catalog().choose(requested, resumed, default)

    async def previews(self) -> "list[BundleDescription]":
        """Describe every bundle that can be found, broken ones included; never fetches."""
        catalog = await asyncio.to_thread(self.catalog)
        entries = await asyncio.to_thread(catalog.entries)
        return list(await asyncio.gather(*(self._preview(entry, catalog) for entry in entries)))

    async def preview(self, name: str) -> "BundleDescription":
        """Describe one bundle; never fetches, never runs its code."""
        catalog = await asyncio.to_thread(self.catalog)
        entry = await asyncio.to_thread(catalog.find, name)
        if entry is None:
            from amplifier_tui.foundation.checks.preview import failed_preview

            error = BundleNotFoundError(f"There is no bundle {name!r}")
            return failed_preview(BundleEntry(name, name, ""), error)
        return await self._preview(entry, catalog)

    async def load(
        self,
        name: str,
        *,
        trust: Trust | None = None,
        progress: ProgressCallback | None = None,
    ) -> Bundle:
        """Load a bundle as it takes effect here: includes, `bundle.app`, settings, agents.

        That is to look at it; only `prepare` leaves out what must not count.

        Raises:
            BundleError: It cannot be had. What `bundle.app` names and cannot be had is in
                `Bundle.skipped` instead.
        """
        return (await self._load_named(name, self.review(trust), progress))[0]

    async def prepare(
        self,
        name: str,
        *,
        trust: Trust | None = None,
        progress: ProgressCallback | None = None,
        install_deps: bool = True,
        strict: bool = False,
        chosen_by: Owner = Owner.USER,
        also: Collection[TrustItem] = (),
    ) -> PreparedBundle:
        """Load a bundle as it takes effect here and activate its modules.

        In the result's mount plan every `${VAR}` is expanded; the bundle itself keeps them. What
        was refused is not in it.

        Args:
            chosen_by: Whose word it is that this bundle is opened.
            also: What else belongs to the one question; see `PreparedBundle.allowed`.

        Raises:
            BundleError: It cannot be had, or in strict mode a module cannot be activated.
            TrustCancelledError: The user was asked, and wants nothing opened.
        """
        from amplifier_tui.foundation.checks.agent_modules import leave_out_unreadable

        review = self.review(trust, chosen_by, MOST_QUESTIONS)
        if not review.chosen_by.is_trusted and (entry := self.catalog().find(name)):
            review.choose(entry.source)
        while True:
            for item in also:
                review.allows(item)
            bundle, fetch = await self._load_named(name, review, progress, whole=True)
            prepared = await bundle.prepare(
                install_deps=install_deps, progress_callback=progress, strict=strict, fetch=fetch
            )
            allowed = frozenset(item.key for item in also if review.allows(item))
            # What came of a fetch may not be what was there when it was allowed.
            if not await review.settle():
                break
        prepared.allowed = allowed
        settings = await asyncio.to_thread(review_settings, self.settings, review)
        prepared.mode = settings.get("mode")
        plan = prepared.mount_plan
        prepared.refused = [
            *remove_refused(bundle, plan, review, fetch.resolved),
            *await self._key_guard(bundle, review).apply(plan, fetch.gate),
        ]
        for module in prepared.refused:
            prepared.activation_failures.pop(module.module_id, None)
        prepared.refused_items = review.refused
        prepared.changed = review.changed
        prepared.unasked = dict(review.unasked)
        prepared.notes += review.left_out.values()
        prepared.notes += await asyncio.to_thread(leave_out_unreadable, bundle, plan)
        self._leave_out_unused(prepared)
        written = prepared.mount_plan
        prepared.mount_plan = expand_plan(written, self.environ)
        prepared.notes += mark_unset(written, prepared.mount_plan, self.environ)
        return prepared

    async def write_lock(
        self,
        name: str,
        *,
        trust: Trust | None = None,
        progress: ProgressCallback | None = None,
    ) -> LockFile:
        """Resolve every source of a bundle as it is now, and write that to the project's lock.

        Raises `BundleError` when one cannot be had, `OSError` when the lock cannot be written.
        """
        review = self.review(trust)
        while True:
            bundle, fetch = await self._load_named(
                name, review, progress, locked=False, renews=True
            )
            if bundle.skipped:
                first = bundle.skipped[0]
                kind = TrustRefusedError if first.kind == "refused" else BundleError
                raise kind(f"Cannot lock, {first.source} is missing: {first.reason}")
            sources = self._registry(fetch, persist=False).source_resolver
            try:
                for entry in modules_with_source(bundle):
                    with requested_by(entry["module"], entry["included_by"]):
                        await sources.resolve(entry["source"])
            except TrustRefusedError:
                # It may be refused for want of an answer.
                if not await review.settle():
                    raise
            else:
                break
        lock = self.lock or LockFile(self.project / ".amplifier" / "bundle.lock")
        lock.replace(fetch.resolved)
        await asyncio.to_thread(lock.save)
        self.lock = lock
        return lock

    async def update(
        self,
        name: str,
        *,
        check_only: bool = False,
        trust: Trust | None = None,
        progress: ProgressCallback | None = None,
    ) -> "list[SourceUpdate]":
        """Bring every source of a bundle up to date (or only look), and the project's lock with it.

        Raises `BundleError` when it cannot be had, `OSError` when the lock cannot be written.
        """
        from amplifier_tui.foundation.updates import look, renew

        review, lock = self.review(trust), self.lock
        while True:
            bundle, fetch = await self._load_named(
                name, review, progress, locked=False, renews=not check_only
            )
            sources = self._registry(fetch, persist=False).source_resolver
            rows = await look(bundle, sources, lock)
            # Even to look whether something is newer reaches for a repository.
            if not await review.settle():
                break
        if not check_only:
            rows = await renew(rows, bundle, sources)
            await asyncio.to_thread(review.keep_fetched, fetch.resolved)
        if not check_only and lock is not None and lock.sources:
            lock.replace({**lock.sources, **fetch.resolved})
            await asyncio.to_thread(lock.save)
        return rows

    def registry(self) -> BundleRegistry:
        """Return the user's registry, with `sources.bundles` redirecting includes."""
        return self._registry(FetchContext(TrustGate(shipped_only(self.shipped)), lock=self.lock))

    async def _preview(self, entry: BundleEntry, catalog: BundleCatalog) -> "BundleDescription":
        preview = await self._described(entry, catalog)
        other = await asyncio.to_thread(catalog.in_place_of, entry)
        return preview if other is None else replace(preview, in_place_of=other.origin)

    async def _described(self, entry: BundleEntry, catalog: BundleCatalog) -> "BundleDescription":
        from amplifier_tui.foundation.checks.preview import failed_preview

        try:
            return await self._describe(entry)
        except BundleError as error:
            names = [each.name for each in await asyncio.to_thread(catalog.entries)]
            return failed_preview(entry, error, names)
        # One bundle on a bad disk, or that nobody thought of, must not cost the list of the others.
        except OSError as error:
            failure = BundleLoadError(f"Cannot be read: {error.strerror or error}")
        except Exception as error:
            _log.exception("The bundle %s cannot be described", entry.name)
            failure = BundleLoadError(
                f"Cannot be read: {error or type(error).__name__}",
                path=Path(entry.source) if is_there(Path(entry.source)) else None,
            )
        return failed_preview(entry, failure)

    async def _describe(self, entry: BundleEntry) -> "BundleDescription":
        from amplifier_tui.foundation.checks.module_settings import misspelt_overrides
        from amplifier_tui.foundation.checks.preview import preview_bundle

        looking = OnlyLooking()
        places = Ownership(self.home, self.project, self.shipped)
        review = TrustReview(places, looking, self.environ)
        gate = TrustGate(shipped_only(self.shipped))
        fetch = FetchContext(gate, offline=True, lock=self.lock, review=review)
        bundle = await self._load(entry, fetch, persist=False)
        await asyncio.to_thread(review_skills, bundle, review)
        await asyncio.to_thread(review_servers, bundle, review)
        await self._collect(bundle, review, fetch)
        registry = self._registry(fetch, persist=False)
        preview = await preview_bundle(
            bundle,
            entry,
            sources=registry.source_resolver,
            environ=self.environ,
            working_dir=self.project,
            destinations=self._key_guard(bundle).destinations(),
            asked=looking.seen.values(),
        )
        overrides = await asyncio.to_thread(misspelt_overrides, self.settings, bundle)
        return replace(preview, overrides=tuple(overrides))

    def _leave_out_unused(self, prepared: PreparedBundle) -> None:
        """Take providers without a key out of the plan, if another one is ready."""
        providers = prepared.mount_plan.get("providers", [])
        ready = any(
            not missing_keys(entry, self.environ)
            and str(entry.get("module")) not in prepared.activation_failures
            for entry in providers
        )
        for entry in list(providers) if ready else ():
            origins = prepared.bundle.origins.get(f"provider:{module_key(entry)}", [])
            # What users configure themselves, they want to hear about.
            own = any(is_settings_origin(origin) for origin in origins)
            if not own and is_spare(entry, self.environ):
                providers.remove(entry)
                missing = tuple(missing_keys(entry, self.environ))
                needs = " or ".join(missing)
                unused = ReportItem(
                    what=module_key(entry),
                    kind="unused",
                    part="provider",
                    why=f"{needs} is not set",
                    remedy=f"Set {needs} in the environment or in keys.env to use it.",
                    asked_by=origins[-1].bundle if origins else prepared.bundle.name,
                    missing=missing,
                )
                prepared.unused.append(unused)
