"""The bundles of one project as they take effect there: settings, agents, and what was refused."""

import asyncio
import os
from collections.abc import MutableMapping
from dataclasses import field, replace
from pathlib import Path

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.composing import tag_container_provenance
from amplifier_tui.foundation.bundle.model import SkippedInclude
from amplifier_tui.foundation.catalog import BundleCatalog, BundleEntry, named_bundles
from amplifier_tui.foundation.exceptions import (
    BundleError,
    BundleNotFoundError,
    TrustRefusedError,
)
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
from amplifier_tui.foundation.settings.apply import apply_settings
from amplifier_tui.foundation.settings.keys import KeysReport
from amplifier_tui.foundation.settings.settings import (
    PROJECT_SCOPES,
    Settings,
    SettingsProblem,
)
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.lockfile import LockFile
from amplifier_tui.foundation.trust.code import CodeSource, source_of
from amplifier_tui.foundation.trust.collecting import collect_code
from amplifier_tui.foundation.trust.gate import TrustCallback, shipped_only
from amplifier_tui.foundation.trust.keys.key_guard import KeyGuard
from amplifier_tui.foundation.trust.layers import review_agent, review_settings
from amplifier_tui.foundation.trust.owners import Owner, Ownership
from amplifier_tui.foundation.trust.refusing import keep_redaction
from amplifier_tui.foundation.trust.review import (
    EachAsked,
    TrustAnswers,
    TrustReview,
    key_item,
)
from amplifier_tui.foundation.trust.servers.reviewing import review_servers
from amplifier_tui.foundation.trust.skills import review_skills

_APP = "settings: bundle.app"

Trust = TrustCallback | TrustAnswers


@dataclass
class ProjectBundles:
    """Loads bundles as they take effect in one project.

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

    def catalog(self) -> BundleCatalog:
        """Return the bundles that can be found without the network."""
        states = self._registry(FetchContext(offline=True), persist=False).states
        return BundleCatalog(self.home, self.project, self.settings, states, self.shipped)

    def _key_guard(self, bundle: Bundle, review: TrustReview | None = None) -> KeyGuard:
        if review is not None:
            settings = review_settings(self.settings, review)
            return KeyGuard(bundle, settings, self.environ, review.places)
        places = Ownership(self.home, self.project, self.shipped)
        return KeyGuard(bundle, self.settings, self.environ, places)

    def review(
        self,
        trust: Trust | None,
        chosen_by: Owner = Owner.USER,
        questions: int | None = None,
    ) -> TrustReview:
        """Return what decides, with the answers of `trust`, what may count here.

        `questions` is how often may be asked; None for as often as needed.
        """
        if trust is None or callable(trust):
            answers: TrustAnswers = EachAsked(trust or shipped_only(self.shipped))
        else:
            answers = trust
        places = Ownership(self.home, self.project, self.shipped, answers.folders)
        if places.owner_of(self.project).is_trusted:
            chosen_by = Owner.USER
        review = TrustReview(places, answers, self.environ, chosen_by, questions)
        if self.lock is not None and not places.owner_of(self.lock.path).is_trusted:
            review.pinned = frozenset(self.lock.sources)
        return review

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
            bundle = await self._with_app_bundle(bundle, uri, registry, settings)
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

    async def _collect(self, bundle: Bundle, review: TrustReview, fetch: FetchContext) -> bool:
        """Have what a bundle brings asked about; whether its settings are others by an answer."""
        guard = self._key_guard(bundle, review)
        await collect_code(bundle, review, self.home / "cache", fetch)
        before = len(review.kept_home)
        for destination in guard.destinations():
            item = key_item(destination.request())
            if not review.allows(item) and item in review.refused and destination.by_settings:
                # The address is absent, and the module is as it is without it.
                review.kept_home.add(destination.module_id)
        return len(review.kept_home) > before

    async def _with_app_bundle(
        self, bundle: Bundle, uri: str, registry: BundleRegistry, settings: Settings
    ) -> Bundle:
        # What the user has in every session is not another bundle where a project has its name.
        brought = settings.scope_of("bundle.app") in PROJECT_SCOPES
        catalog = replace(await asyncio.to_thread(self.catalog), brought=brought)
        found = await asyncio.to_thread(catalog.find, uri)
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
        renews: bool = False,
    ) -> tuple[Bundle, FetchContext]:
        """Load a bundle, once everything that has to be asked about it was asked.

        Args:
            whole: Ask about what opening it would do, and not only about what is fetched.
            renews: Where it can't be loaded, fetch once more what of it was fetched before.
        """
        entry = await asyncio.to_thread(lambda: self.catalog().find(name))
        if entry is None:
            raise BundleNotFoundError(
                f"There is no bundle {name!r}", remedy="Look at the list of bundles."
            )
        lock = self.lock if locked else None
        failed: dict[str, BundleError] = {}
        while True:
            reviewed = review if whole else None
            fetch = FetchContext(review.gate(), progress, lock=lock, review=reviewed, failed=failed)
            anew = False
            try:
                bundle = await self._load(entry, fetch)
                if whole:
                    await asyncio.to_thread(review_skills, bundle, review)
                    await asyncio.to_thread(review_servers, bundle, review)
                if whole and review.collects:
                    anew = await self._collect(bundle, review, fetch)
            except BundleError as error:
                # It may have failed for the very thing that is to be asked about.
                if await review.settle():
                    continue
                if not fetch.resolved or not self._is_fetched(error):
                    raise
                if not renews:
                    error.remedy = (
                        "It was fetched so: once that is mended where it is from, "
                        f"{as_typed(f'amplifier-tui bundle update {name}')} fetches it anew."
                    )
                    raise
                # It may be mended by now.
                try:
                    sources = self._registry(fetch, persist=False).source_resolver
                    for uri in tuple(fetch.resolved):
                        await sources.update(uri)
                except TrustRefusedError:
                    if not await review.settle():
                        raise
                else:
                    renews = False
                    failed.clear()
            else:
                if not await review.settle() and not anew:
                    if not whole:
                        await asyncio.to_thread(review.keep_fetched, fetch.resolved)
                    return bundle, fetch

    def _is_fetched(self, error: BundleError) -> bool:
        """Whether an error is about a file that was fetched, or about none that is known."""
        return error.path is None or Path(error.path).is_relative_to(self.home / "cache")

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
            added=settings.added_by_user,
            places=Ownership(self.home, self.project, self.shipped),
            unlisted=self.shipped,
        )
        own, added = settings.added_by_user, settings.added_bundles
        registry.bring({name: uri for name, uri in added.items() if own.get(name) != uri})
        return registry
