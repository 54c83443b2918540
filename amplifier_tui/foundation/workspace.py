"""One project with its user's settings: list, preview, load and prepare its bundles.

This is what a host uses. Nothing here starts a session; `PreparedBundle.create_session` does.
"""

import asyncio
import os
from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.composing import tag_container_provenance
from amplifier_tui.foundation.bundle.model import SkippedInclude, is_settings_origin
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.bundle.preparing import modules_with_source
from amplifier_tui.foundation.catalog import BundleCatalog, BundleEntry, Choice, named_bundles
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.exceptions import (
    BundleError,
    BundleLoadError,
    BundleNotFoundError,
    TrustRefusedError,
)
from amplifier_tui.foundation.paths import get_amplifier_home, redact_uri
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.settings.apply import apply_settings
from amplifier_tui.foundation.settings.expand import expand_plan
from amplifier_tui.foundation.settings.keys import KeysReport, load_keys
from amplifier_tui.foundation.settings.settings import (
    Settings,
    SettingsFiles,
    SettingsProblem,
    load_settings,
)
from amplifier_tui.foundation.sources.context import FetchContext, requested_by
from amplifier_tui.foundation.sources.lockfile import LockFile
from amplifier_tui.foundation.trust.addresses import is_spare, missing_keys
from amplifier_tui.foundation.trust.code import CodeSource, source_of
from amplifier_tui.foundation.trust.collecting import collect_code
from amplifier_tui.foundation.trust.gate import TrustCallback, TrustGate, shipped_only
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.foundation.trust.key_guard import KeyGuard
from amplifier_tui.foundation.trust.layers import review_agent, review_settings
from amplifier_tui.foundation.trust.owners import Owner, Ownership
from amplifier_tui.foundation.trust.refusing import keep_redaction, remove_refused
from amplifier_tui.foundation.trust.review import (
    EachAsked,
    OnlyLooking,
    TrustAnswers,
    TrustReview,
    key_item,
)

if TYPE_CHECKING:
    from amplifier_tui.foundation.checks.preview import BundleDescription
    from amplifier_tui.foundation.updates import SourceUpdate

_APP = "settings: bundle.app"

Trust = TrustCallback | TrustAnswers


@dataclass
class Workspace:
    """A project, its user's settings and keys, and the bundles that can be opened in it.

    In its methods, `name` is a name, path or URI; `trust` answers for what a project or a stranger
    brings before any of it counts (the default allows only what is shipped): a callback one by one,
    `TrustAnswers` all at once; and `progress` is told what goes on.

    Attributes:
        home: The Amplifier home.
        project: The project's folder.
        settings: Of all scopes.
        keys: What loading `keys.env` did.
        lock: The project's lock file.
        shipped: Folders of bundles that come with the program.
        environ: The environment, with the keys in it.
        problems: What is wrong with settings, keys and lock; none of it is fatal.
    """

    home: Path
    project: Path
    settings: Settings
    keys: KeysReport
    lock: LockFile | None
    shipped: tuple[Path, ...] = ()
    environ: MutableMapping[str, str] = field(default_factory=lambda: os.environ)
    problems: list[SettingsProblem] = field(default_factory=list)

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

    def catalog(self) -> BundleCatalog:
        """Return the bundles that can be found without the network."""
        states = self._registry(FetchContext(offline=True), persist=False).states
        return BundleCatalog(self.home, self.project, self.settings, states, self.shipped)

    def choose(self, requested: str = "", resumed: str = "", default: str = "") -> Choice:
        """Decide which bundle a session gets; see `BundleCatalog.choose`."""
        return self.catalog().choose(requested, resumed, default)

    async def previews(self) -> "list[BundleDescription]":
        """Describe every bundle that can be found, broken ones included; never fetches."""
        entries = await asyncio.to_thread(lambda: self.catalog().entries())
        return list(await asyncio.gather(*(self._preview(entry) for entry in entries)))

    async def preview(self, name: str) -> "BundleDescription":
        """Describe one bundle; never fetches, never runs its code."""
        entry = await asyncio.to_thread(lambda: self.catalog().find(name))
        if entry is None:
            from amplifier_tui.foundation.checks.preview import failed_preview

            error = BundleNotFoundError(f"There is no bundle {name!r}")
            return failed_preview(BundleEntry(name, name, ""), error)
        return await self._preview(entry)

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
        review = self.review(trust, chosen_by)
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
        prepared.notes += review.left_out.values()
        self._leave_out_unused(prepared)
        prepared.mount_plan = expand_plan(prepared.mount_plan, self.environ)
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
        bundle, fetch = await self._load_named(name, self.review(trust), progress, locked=False)
        if bundle.skipped:
            first = bundle.skipped[0]
            error = TrustRefusedError if first.kind == "refused" else BundleError
            raise error(f"Cannot lock, {first.source} is missing: {first.reason}")
        sources = self._registry(fetch, persist=False).source_resolver
        for entry in modules_with_source(bundle):
            with requested_by(entry["module"], entry["included_by"]):
                await sources.resolve(entry["source"])
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
        from amplifier_tui.foundation.updates import refresh

        bundle, fetch = await self._load_named(name, self.review(trust), progress, locked=False)
        lock = self.lock
        sources = self._registry(fetch, persist=False).source_resolver
        rows = await refresh(bundle, sources, lock, check_only=check_only)
        if not check_only and lock is not None and lock.sources:
            lock.replace({**lock.sources, **fetch.resolved})
            await asyncio.to_thread(lock.save)
        return rows

    def registry(self) -> BundleRegistry:
        """Return the user's registry, with `sources.bundles` redirecting includes."""
        return self._registry(FetchContext(TrustGate(shipped_only(self.shipped)), lock=self.lock))

    async def _preview(self, entry: BundleEntry) -> "BundleDescription":
        from amplifier_tui.foundation.checks.preview import failed_preview, preview_bundle

        looking = OnlyLooking()
        places = Ownership(self.home, self.project, self.shipped)
        review = TrustReview(places, looking, self.environ)
        gate = TrustGate(shipped_only(self.shipped))
        fetch = FetchContext(gate, offline=True, lock=self.lock, review=review)
        try:
            bundle = await self._load(entry, fetch, persist=False)
            await self._collect(bundle, review, fetch)
        except BundleError as error:
            return failed_preview(entry, error)
        except OSError as error:
            # One bundle on a bad disk must not cost the list of the others.
            failure = BundleLoadError(f"Cannot be read: {error.strerror or error}")
            return failed_preview(entry, failure)
        registry = self._registry(fetch, persist=False)
        return await preview_bundle(
            bundle,
            entry,
            sources=registry.source_resolver,
            environ=self.environ,
            working_dir=self.project,
            destinations=self._key_guard(bundle).destinations(),
            asked=looking.seen.values(),
        )

    def _leave_out_unused(self, prepared: PreparedBundle) -> None:
        """Take providers without a key out of the plan, if another one is ready."""
        providers = prepared.mount_plan.get("providers", [])
        ready = any(
            not missing_keys(entry, self.environ)
            and entry.get("module") not in prepared.activation_failures
            for entry in providers
        )
        for entry in list(providers) if ready else ():
            origins = prepared.bundle.origins.get(f"provider:{module_key(entry)}", [])
            # What users configure themselves, they want to hear about.
            own = any(is_settings_origin(origin) for origin in origins)
            if not own and is_spare(entry, self.environ):
                providers.remove(entry)
                needs = " or ".join(missing_keys(entry, self.environ))
                unused = ReportItem(
                    what=module_key(entry),
                    kind="unused",
                    part="provider",
                    why=f"{needs} is not set",
                    remedy=f"Set {needs} in the environment or in keys.env to use it.",
                    asked_by=origins[-1].bundle if origins else prepared.bundle.name,
                )
                prepared.unused.append(unused)

    def _key_guard(self, bundle: Bundle, review: TrustReview | None = None) -> KeyGuard:
        if review is not None:
            settings = review_settings(self.settings, review)
            return KeyGuard(bundle, settings, self.environ, review.places)
        places = Ownership(self.home, self.project, self.shipped)
        return KeyGuard(bundle, self.settings, self.environ, places)

    def review(self, trust: Trust | None, chosen_by: Owner = Owner.USER) -> TrustReview:
        """Return what decides, with the answers of `trust`, what may count here."""
        if trust is None or callable(trust):
            answers: TrustAnswers = EachAsked(trust or shipped_only(self.shipped))
        else:
            answers = trust
        places = Ownership(self.home, self.project, self.shipped, answers.folders)
        if places.owner_of(self.project).is_trusted:
            chosen_by = Owner.USER
        return TrustReview(places, answers, self.environ, chosen_by)

    async def _load(
        self, entry: BundleEntry, fetch: FetchContext, *, persist: bool = True
    ) -> Bundle:
        review, settings = fetch.review, self.settings
        if review is not None:
            settings = await asyncio.to_thread(review_settings, settings, review)
        # Where a program keeps its own bundles is nothing for a registry that others read, too.
        persist = persist and entry.origin != "shipped"
        registry = self._registry(fetch, settings=settings, persist=persist)
        bundle = await load_bundle(entry.source, registry=registry)
        for uri in settings.app_bundles:
            bundle = await self._with_app_bundle(bundle, uri, registry)
        bundle = bundle.compose()
        return await asyncio.to_thread(self._apply, bundle, settings, review)

    def _apply(self, bundle: Bundle, settings: Settings, review: TrustReview | None) -> Bundle:
        """Return a composed bundle with its agents' files and the settings."""
        if review is None:
            bundle.load_agent_metadata()
            return apply_settings(bundle, settings, environ=self.environ, project=self.project)

        def allows(module: str, folder: Path) -> bool:
            source = CodeSource(source_of(str(folder)), (module,), ("the project",), str(folder))
            review.announce(source, Owner.PROJECT)
            return review.allows_source(str(folder), {})

        # Agents first: their tools take part in overrides and sources.
        granted: list[Path] = []
        bundle.load_agent_metadata(lambda found, path: review_agent(found, path, review, granted))
        bundle.granted = (*bundle.granted, *granted)
        bundle = apply_settings(
            bundle, settings, environ=self.environ, project=self.project, allows=allows
        )
        keep_redaction(bundle, review)
        return bundle

    async def _collect(self, bundle: Bundle, review: TrustReview, fetch: FetchContext) -> None:
        guard = self._key_guard(bundle, review)
        await collect_code(bundle, review, self.home / "cache", fetch)
        for destination in guard.destinations():
            review.allows(key_item(destination.request()))

    async def _with_app_bundle(self, bundle: Bundle, uri: str, registry: BundleRegistry) -> Bundle:
        found = await asyncio.to_thread(lambda: self.catalog().find(uri))
        try:
            loaded = await load_bundle(uri if found is None else found.source, registry=registry)
        except BundleError as error:
            result = bundle.compose()
            result.skipped.append(
                SkippedInclude(redact_uri(uri), _APP, str(error), owner=Owner.USER)
            )
        else:
            layer = loaded.compose()
            tag_container_provenance(layer, _APP)
            # It adds to the bundle, and the bundle stays who it is.
            layer.name = layer.version = layer.description = ""
            layer.base_path = None
            result = bundle.compose(layer)
            result._source_uri = bundle._source_uri
        return result

    async def _load_named(
        self,
        name: str,
        review: TrustReview,
        progress: ProgressCallback | None,
        *,
        locked: bool = True,
        whole: bool = False,
    ) -> tuple[Bundle, FetchContext]:
        """Load a bundle, once everything that has to be asked about it was asked.

        Args:
            whole: Ask about what opening it would do, and not only about what is fetched.
        """
        entry = await asyncio.to_thread(lambda: self.catalog().find(name))
        if entry is None:
            raise BundleNotFoundError(
                f"There is no bundle {name!r}", remedy="Look at the list of bundles."
            )
        lock = self.lock if locked else None
        while True:
            reviewed = review if whole else None
            fetch = FetchContext(review.gate(), progress, lock=lock, review=reviewed)
            try:
                bundle = await self._load(entry, fetch)
                if whole and review.collects:
                    await self._collect(bundle, review, fetch)
            except BundleError:
                # It may have failed for the very thing that is to be asked about.
                if not await review.settle():
                    raise
            else:
                if not await review.settle():
                    return bundle, fetch

    def _registry(
        self, fetch: FetchContext, *, settings: Settings | None = None, persist: bool = True
    ) -> BundleRegistry:
        settings = settings or self.settings
        registry = BundleRegistry(
            self.home,
            include_source_resolver=settings.redirect_include,
            fetch=fetch,
            persist=persist,
            known={name: str(path) for name, path in named_bundles(self.shipped).items()},
            unlisted=self.shipped,
        )
        registry.register(settings.added_bundles)
        return registry
