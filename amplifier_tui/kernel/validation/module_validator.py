"""What the validators of all kinds have in common: import, mount once for trial, look, clean up."""

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.mounting import mount as mounting
from amplifier_tui.kernel.mounting.callbacks import cancel_requests, is_genuine_cancellation
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.errors import (
    capability_remedy,
    named_text,
    place_of_error,
)
from amplifier_tui.kernel.mounting.mount import METHODS, call_mount
from amplifier_tui.kernel.mounting.packages.finding import TYPE_TO_MOUNT_POINT
from amplifier_tui.kernel.mounting.packages.importing import imported_module
from amplifier_tui.kernel.mounting.trial import TrialCoordinator, WatchingCoordinator
from amplifier_tui.kernel.validation.base import ValidationResult, check_shape
from amplifier_tui.kernel.validation.trials import StuckError, freed

COMPLIANCE: Final = "protocol_compliance"
MOUNTS_ONLY_WITH: Final = "__amplifier_mounts_only_with__"
"""What a module sets that mounts nothing without some config: what it needs."""

_POINTS: Final = f"Mount points are: {', '.join(sorted(TYPE_TO_MOUNT_POINT.values()))}"
_UNAWAITED: Final = "coordinator.mount() is not awaited, so it mounts nothing"
_AWAIT: Final = "Write: await coordinator.mount(...)"
_REMEDIES: Final = (
    ("Unknown mount point", _POINTS),
    ("Name required for ", 'Give its class a `name`, or write: coordinator.mount(..., name="...")'),
)
_CONFIG: Final = (
    "Correct that line; or give what it needs in the config (module validate takes --config), or "
    "have mount() return None without it"
)


async def _clean_up(result: ValidationResult, coordinator: TrialCoordinator) -> None:
    functions = coordinator._cleanup_fns
    functions[:] = [partial(_run_cleanup, result, each) for each in functions]
    await coordinator.cleanup()


async def _run_cleanup(result: ValidationResult, cleanup: Callable[[], Any]) -> None:
    clock = asyncio.timeout(mounting.MOUNT_SECONDS)
    try:
        with freed(mounting.MOUNT_SECONDS):
            async with clock:
                await awaited(cleanup())
    except (Exception, StuckError) as error:
        where = place_of_error(error) or place_of(cleanup)
        timed_out = isinstance(error, TimeoutError) and clock.expired()
        if not (timed_out or isinstance(error, StuckError)):
            remedy = "Correct that line; a session that ends goes on without the rest of it"
            problem = f"The cleanup failed: {named_text(error)}"
            result.fail("cleanup", problem, remedy, "warning", where)
            return
        result.fail(
            "cleanup",
            f"The cleanup did not end within {mounting.MOUNT_SECONDS:g} s: it waits for something",
            "Cancel what it waits for first; a session that ends would wait for it, too",
            where=where,
        )


def mounted_at(coordinator: TrialCoordinator) -> str:
    """Return the end of a sentence: where a module mounted something; empty for nowhere."""
    points = sorted({entry["mount_point"] for entry in coordinator.mount_history})
    return f"; it mounted at: {', '.join(points)}" if points else ""


class ModuleTrial(Protocol):
    """Looks at what a module adds to another than the kernel, such as a context."""

    @property
    def added(self) -> Sequence[str]:
        """What the module has added, in words."""

    def offer(self, coordinator: TrialCoordinator) -> None:
        """Prepare the coordinator that the module is mounted on."""

    async def check(self, result: ValidationResult) -> None:
        """Add what was found of the mounted module."""


class ModuleValidator(ABC):
    """Checks modules of one kind.

    The module is imported under its own name, its ``mount`` runs once on a trial coordinator, what
    it mounted is looked at, and its cleanups run. If it asked for what ``trial`` offers, it is
    mounted once more without that. Messages name it by its id, else by its path.

    Args:
        module_id: Its id.
        runs: What it mounted is run, too, to see what it does.
        trial: Looks at what it adds to another than the kernel; None for nothing.
    """

    kind: ClassVar[str]
    """The kind, e.g. "tool"."""

    def __init__(
        self, module_id: str = "", *, runs: bool = False, trial: ModuleTrial | None = None
    ) -> None:
        self.module_id = module_id
        self.trial = trial
        self.runs = runs
        self.needed = ""
        """Without which the module mounts nothing, in its own words."""
        self.mount_place = ""
        """File and line of its ``mount``."""

    async def validate(
        self,
        module_path: str | Path,
        entry_point: str | None = None,
        config: dict[str, Any] | None = None,
    ) -> ValidationResult:
        """Check one module.

        Args:
            module_path: Its package directory, the folder that holds it, the one file it is, or the
                package's name.
            entry_point: ``"package.module:function"`` of its ``mount``, if not the package's own;
                or the entry point's name.
            config: What to mount it with.
        """
        result = ValidationResult(self.kind, str(module_path))
        try:
            with self._imported(module_path, entry_point) as module:
                result.succeed("module_importable", f"Module loaded from {module_path}")
                needed = getattr(module, MOUNTS_ONLY_WITH, "")
                self.needed = needed if isinstance(needed, str) and not config else ""
                if check_shape(module, result):
                    module_id = self.module_id or Path(module_path).name
                    await self._check_compliance(result, module_id, module.mount, config or {})
        except StuckError as error:
            result.fail(
                "module_importable",
                f"The import did not end within {mounting.MOUNT_SECONDS:g} s: it waits for "
                "something, or goes round for ever",
                "Do that work in mount(), or in a task of its own; a session that opens would wait",
                where=place_of_error(error),
            )
        except (Exception, SystemExit) as error:
            cause = error.__cause__ or error
            is_import = isinstance(cause, ImportError)
            # Of what is missing the error says what to do.
            is_missing = isinstance(cause, ModuleNotFoundError)
            result.fail(
                "module_importable",
                f"{'Failed to import' if is_import else 'Error loading'} module: "
                f"{named_text(error)}",
                "Then validate it again"
                if is_missing
                else "Correct that line, then validate it again",
                where=place_of_error(error),
            )
        return result

    @contextmanager
    def _imported(self, module_path: str | Path, entry_point: str | None) -> Iterator[Any]:
        """Import the module for as long as it is looked at; see `validate`.

        Raises:
            StuckError: Its import does not end.
        """
        with ExitStack() as stack:
            with freed(mounting.MOUNT_SECONDS) if self.runs else nullcontext():
                module = stack.enter_context(imported_module(module_path, entry_point))
            yield module

    async def _check_compliance(
        self, result: ValidationResult, module_id: str, mount: Any, config: dict[str, Any]
    ) -> None:
        coordinator = WatchingCoordinator()
        cleanup: Any = None
        self.mount_place = place_of(mount)
        baseline = cancel_requests()
        if self.trial is not None:
            self.trial.offer(coordinator)
        offered = set(coordinator._capabilities)
        try:
            with freed(mounting.MOUNT_SECONDS) if self.runs else nullcontext():
                cleanup = await call_mount(mount, coordinator, config, module_id)
            unawaited = coordinator.close_unawaited()
            for place in unawaited:
                result.fail(COMPLIANCE, _UNAWAITED, _AWAIT, where=place)
            if not unawaited:
                self.look(result, coordinator, cleanup)
            if self.runs and result.passed:
                await self.run(result, coordinator)
            if self.trial is not None and result.passed:
                await self.trial.check(result)
        except StuckError as error:
            result.fail(
                COMPLIANCE,
                f"mount() did not end within {mounting.MOUNT_SECONDS:g} s, and keeps the whole "
                "session waiting: it waits without `await`, or goes round for ever",
                "Await what it waits for, or run it in a thread: await asyncio.to_thread(...)",
                where=place_of_error(error) or self.mount_place,
            )
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and is_genuine_cancellation(baseline):
                raise
            text = named_text(error)
            if self.needed and isinstance(error, ConfigurationError):
                self._unchecked(result, text)
                return
            remedy = next((remedy for part, remedy in _REMEDIES if part in text), _CONFIG)
            result.fail(
                COMPLIANCE,
                f"Error during protocol compliance check: {text}",
                capability_remedy(error, coordinator.asked_capabilities) or remedy,
                where=place_of_error(error),
            )
        finally:
            coordinator.close_unawaited()
            if callable(cleanup):
                coordinator.register_cleanup(cleanup)
            await _clean_up(result, coordinator)
        asked = sorted(offered & coordinator.asked_capabilities.keys())
        if asked and result.passed:
            # A session checks it before anything is offered, and may have nothing that offers it.
            other = type(self)(self.module_id)
            without = ValidationResult(result.module_type, result.module_path)
            await other._check_compliance(without, module_id, mount, config)
            where = f"In a session without {', '.join(asked)}: "
            result.checks += [replace(e, message=where + e.message) for e in without.errors]

    def _unchecked(self, result: ValidationResult, why: str) -> None:
        """Add that nothing was mounted, for want of what the module needs."""
        result.succeed(
            COMPLIANCE,
            f"No {self.kind} was mounted: it mounts only with {self.needed}, so its contract was "
            f"not checked; give it with --config. {why}".rstrip(),
            "warning",
        )

    async def run(self, result: ValidationResult, coordinator: TrialCoordinator) -> bool:
        """Add what shows only when it runs; False where nothing of the kind does."""
        return False

    @abstractmethod
    def look(self, result: ValidationResult, coordinator: TrialCoordinator, returned: Any) -> None:
        """Add the checks of this kind; ``returned`` is what ``mount`` returned."""


class InstanceValidator(ModuleValidator):
    """Checks modules that mount an object with certain members."""

    contract: ClassVar[str]
    """The contract's name, e.g. "Tool"."""
    attributes: ClassVar[tuple[str, ...]] = ()
    """Its members that are no methods."""

    @property
    def required(self) -> tuple[str, ...]:
        """The members of the contract."""
        return (*self.attributes, *METHODS[self.kind])

    def look(self, result: ValidationResult, coordinator: TrialCoordinator, returned: Any) -> None:
        """Add ``protocol_compliance`` and, if that passes, what the contract asks in detail."""
        mounted = coordinator.get_mounted(TYPE_TO_MOUNT_POINT[self.kind])
        if not mounted:
            self._look_at_returned(result, coordinator, returned)
            return
        for name, instance in mounted.items():
            who = f"{self.contract} '{name}'" if self.is_named else self.contract
            missing = self._missing(instance)
            if self._is_class(instance):
                result.fail(
                    COMPLIANCE,
                    f"{who} is the class {instance.__name__}, whose methods need an object",
                    f"Mount an instance: {instance.__name__}()",
                    where=self.mount_place,
                )
            elif missing:
                result.fail(
                    COMPLIANCE,
                    f"{who} does not implement {self.contract} interface "
                    f"(missing {', '.join(missing)})",
                    f"The contract of a {self.kind} has: {', '.join(self.required)}",
                    where=place_of(instance),
                )
            else:
                result.succeed(COMPLIANCE, f"{who} implements {self.contract} interface")
                self.look_closer(result, instance)

    def _is_class(self, instance: Any) -> bool:
        """Whether a class was mounted in place of an object of it."""
        methods = (inspect.getattr_static(instance, name, None) for name in METHODS[self.kind])
        return inspect.isclass(instance) and any(map(inspect.isfunction, methods))

    @property
    def is_named(self) -> bool:
        """Whether several can be mounted, under names."""
        return self.kind in ("provider", "tool")

    def _look_at_returned(
        self, result: ValidationResult, coordinator: TrialCoordinator, returned: Any
    ) -> None:
        if returned is not None and not self._missing(returned):
            result.succeed(COMPLIANCE, f"mount() returned a valid {self.contract} instance")
            self.look_closer(result, returned)
        elif callable(returned):
            result.succeed(
                COMPLIANCE,
                f"mount() returned a cleanup callable (no {self.kind} mounted yet - may be "
                "conditional)",
                "warning",
            )
        elif returned is None and self.needed and not coordinator.mount_history:
            self._unchecked(result, "")
        else:
            result.fail(
                COMPLIANCE,
                f"No {self.kind} was mounted and mount() did not return a {self.contract} "
                f"instance{mounted_at(coordinator)}",
                self._how_to_mount(),
                where=self.mount_place,
            )

    def _how_to_mount(self) -> str:
        point = TYPE_TO_MOUNT_POINT[self.kind]
        name = ', name="..."' if self.is_named else ""
        return (
            f'Call: await coordinator.mount("{point}", the_{self.kind}{name}). '
            "If it needs settings or keys to mount, give them in the config."
        )

    def _missing(self, instance: Any) -> list[str]:
        return [
            member
            for member in self.required
            if not hasattr(instance, member)
            or (member not in self.attributes and not callable(getattr(instance, member)))
        ]

    @abstractmethod
    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add the detail checks of one mounted object, which has all required members."""
