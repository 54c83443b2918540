"""Checks of a bundle beyond its shape."""

from collections.abc import Iterator
from dataclasses import field
from typing import Any, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.model import SECTIONS, BundleData
from amplifier_tui.foundation.checks.known_keys import unknown_in_entry, unknown_mode
from amplifier_tui.foundation.exceptions import BundleValidationError
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.paths import is_there


class Finding(NamedTuple):
    """Something wrong with the value at a path of keys of a bundle's file."""

    keys: Keys
    message: str
    warning: bool = False


def content_findings(bundle: BundleData, *, named: bool = True) -> Iterator[Finding]:
    """Yield what is wrong with a bundle's content, which need not be complete enough to run.

    A bundle that is only included need not be `named`.
    """
    if named and not bundle.name:
        yield Finding(("bundle",), "Bundle must have a name")
    for section in SECTIONS:
        for index, entry in enumerate(getattr(bundle, section)):
            yield from _module_findings(section, index, entry)
    yield from _session_findings(bundle.session, whole=named and not bundle.includes)
    yield from unknown_entry_keys(bundle)
    agents: dict[str, Any] = bundle.agents
    for name, definition in agents.items():
        if not isinstance(definition, dict):
            message = f"agents.{name}: Must be a dict, got {_got(definition)}"
            yield Finding(("agents", name), message)
    if bundle.base_path is not None:
        for name, path in bundle.context.items():
            if not is_there(path):
                message = f"context.{name}: Path does not exist: {path}"
                yield Finding(("context", name), message, warning=True)


def completeness_findings(bundle: BundleData) -> Iterator[Finding]:
    """Yield what a bundle lacks to be mounted as it is."""
    session: Any = bundle.session
    if not session:
        yield Finding((), "Mount plan requires 'session' section")
    elif isinstance(session, dict):
        for part in ("orchestrator", "context"):
            if not session.get(part):
                yield Finding(("session",), f"session: Missing required '{part}' field")
    if not bundle.providers:
        yield Finding((), "Mount plan requires at least one provider")


def lacks_for_a_session(bundle: BundleData) -> str:
    """Return why no session can be opened with a composed bundle; empty when one can.

    It names the includes that are left out, since these may have brought what is lacking.
    """
    section: Any = bundle.session if isinstance(bundle.session, dict) else {}
    lacking = [part for part in ("orchestrator", "context") if not section.get(part)]
    if not lacking:
        return ""
    why = f"{bundle.name or 'The bundle'} has no session.{' and no session.'.join(lacking)}"
    left_out = [
        # What helps where it was refused is the same for all.
        f"{each.source} is left out: {each.why if each.kind == 'refused' else each.reason}"
        for each in bundle.skipped
    ]
    return ". ".join([why, *left_out])


@dataclass
class ValidationResult:
    """What a validation found: without errors it is valid; a warning may be meant so."""

    valid: bool = True
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add_error(self, message: str) -> None:
        """Add an error; the result is no longer valid."""
        self.errors.append(message)
        self.valid = False

    def add_warning(self, message: str) -> None:
        """Add a warning."""
        self.warnings.append(message)


class BundleValidator:
    """Checks bundles; when it is `strict`, warnings are errors."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict

    def validate(self, bundle: BundleData) -> ValidationResult:
        """Check a bundle, which need not be complete enough to run."""
        result = ValidationResult()
        for finding in content_findings(bundle):
            warn = finding.warning and not self.strict
            text = f"{finding.message} (strict mode)" if finding.warning else finding.message
            (result.add_warning if warn else result.add_error)(finding.message if warn else text)
        return result

    def validate_or_raise(self, bundle: BundleData) -> None:
        """Check a bundle; raises one `BundleValidationError` that names every error."""
        _raise_if_invalid(self.validate(bundle), "Bundle validation failed")

    def validate_completeness(self, bundle: BundleData) -> ValidationResult:
        """Check that a bundle can be mounted as it is."""
        result = self.validate(bundle)
        for finding in completeness_findings(bundle):
            result.add_error(finding.message)
        return result

    def validate_completeness_or_raise(self, bundle: BundleData) -> None:
        """Check that it can be mounted; raises one `BundleValidationError` for all errors."""
        _raise_if_invalid(self.validate_completeness(bundle), "Bundle incomplete for mounting")


def validate_bundle(bundle: BundleData, *, strict: bool = False) -> ValidationResult:
    """Check a bundle; see `BundleValidator.validate`."""
    return BundleValidator(strict).validate(bundle)


def validate_bundle_or_raise(bundle: BundleData, *, strict: bool = False) -> None:
    """Check a bundle; see `BundleValidator.validate_or_raise`."""
    BundleValidator(strict).validate_or_raise(bundle)


def validate_bundle_completeness(bundle: BundleData) -> ValidationResult:
    """Check that a bundle can be mounted; see `BundleValidator.validate_completeness`."""
    return BundleValidator().validate_completeness(bundle)


def validate_bundle_completeness_or_raise(bundle: BundleData) -> None:
    """Check that a bundle can be mounted; see `BundleValidator.validate_completeness_or_raise`."""
    BundleValidator().validate_completeness_or_raise(bundle)


def _module_findings(section: str, index: int, entry: Any) -> Iterator[Finding]:
    where, keys = f"{section}[{index}]", (section, index)
    if not isinstance(entry, dict):
        yield Finding(keys, f"{where}: Must be a dict, got {_got(entry)}")
        return
    if not entry.get("module"):
        yield Finding(keys, f"{where}: Missing required 'module' field")
    config = entry.get("config")
    if not isinstance(config, dict | None):
        message = f"{where}: 'config' must be a dict, got {_got(config)}"
        yield Finding((*keys, "config"), message)


def unknown_entry_keys(bundle: BundleData) -> Iterator[Finding]:
    """Yield the keys of a bundle's entries that are none."""
    for section in SECTIONS:
        for index, entry in enumerate(getattr(bundle, section)):
            if isinstance(entry, dict):
                yield from _unknown_in(f"{section}[{index}]", (section, index), entry)
    session: Any = bundle.session if isinstance(bundle.session, dict) else {}
    for part in ("orchestrator", "context"):
        if isinstance(value := session.get(part), dict):
            yield from _unknown_in(f"session.{part}", ("session", part), value)


def _unknown_in(where: str, keys: Keys, entry: dict[Any, Any]) -> Iterator[Finding]:
    for key, problem in unknown_in_entry(entry):
        yield Finding((*keys, key), f"{where}: {problem}", warning=True)


def _session_findings(session: Any, *, whole: bool) -> Iterator[Finding]:
    """Yield what is wrong with it; where it is not the whole, an include may name the modules."""
    if not isinstance(session, dict):
        yield Finding(("session",), f"session: Must be a dict, got {_got(session)}")
        return
    for part in ("orchestrator", "context"):
        value, keys = session.get(part), ("session", part)
        if not isinstance(value, str | dict | None):
            yield Finding(keys, f"session.{part}: Must be a string or dict, got {_got(value)}")
        config = value.get("config") if isinstance(value, dict) else None
        if not isinstance(config, dict | None):
            message = f"session.{part}: 'config' must be a dict, got {_got(config)}"
            yield Finding((*keys, "config"), message)
        nameless = isinstance(value, dict) and not (value.get("module") or value.get("source"))
        if whole and nameless:
            yield Finding(keys, f"session.{part}: Missing required 'module' or 'source' field")
    if wrong := unknown_mode(session):
        yield Finding(("session", "mode"), wrong, warning=True)


def _raise_if_invalid(result: ValidationResult, what: str) -> None:
    if not result.valid:
        raise BundleValidationError(f"{what}: {'; '.join(result.errors)}")


def _got(value: Any) -> str:
    return type(value).__name__
