"""Checks of a bundle beyond its shape (foundation reference a.6)."""

from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.parsing import MODULE_SECTIONS
from amplifier_tui.foundation.exceptions import BundleValidationError
from amplifier_tui.foundation.paths import is_there

NAMELESS = "Bundle must have a name"
"""The error about a bundle without a name; one that is only included needs none."""


@dataclass
class ValidationResult:
    """What a validation found.

    Attributes:
        valid: There are no errors.
        errors: What must be mended.
        warnings: What may be meant so.
    """

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
    """Checks bundles.

    Args:
        strict: Warnings are errors.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict

    def validate(self, bundle: Bundle) -> ValidationResult:
        """Check a bundle, which need not be complete enough to run."""
        result = ValidationResult()
        if not bundle.name:
            result.add_error(NAMELESS)
        for section in MODULE_SECTIONS:
            _check_modules(getattr(bundle, section), section, result)
        _check_session(bundle.session, result)
        agents: dict[str, Any] = bundle.agents
        for name, definition in agents.items():
            if not isinstance(definition, dict):
                result.add_error(f"agents.{name}: Must be a dict, got {_got(definition)}")
        if bundle.base_path is not None:
            for name, path in bundle.context.items():
                if not is_there(path):
                    message = f"context.{name}: Path does not exist: {path}"
                    (result.add_error if self.strict else result.add_warning)(message)
        return result

    def validate_or_raise(self, bundle: Bundle) -> None:
        """Check a bundle.

        Raises:
            BundleValidationError: It has errors; all of them are named.
        """
        _raise_if_invalid(self.validate(bundle), "Bundle validation failed")

    def validate_completeness(self, bundle: Bundle) -> ValidationResult:
        """Check that a bundle can be mounted as it is."""
        result = self.validate(bundle)
        session: Any = bundle.session
        if not session:
            result.add_error("Mount plan requires 'session' section")
        elif isinstance(session, dict):
            for part in ("orchestrator", "context"):
                if not session.get(part):
                    result.add_error(f"session: Missing required '{part}' field")
        if not bundle.providers:
            result.add_error("Mount plan requires at least one provider")
        return result

    def validate_completeness_or_raise(self, bundle: Bundle) -> None:
        """Check that a bundle can be mounted as it is.

        Raises:
            BundleValidationError: It cannot; everything that is missing is named.
        """
        _raise_if_invalid(self.validate_completeness(bundle), "Bundle incomplete for mounting")


def validate_bundle(bundle: Bundle, *, strict: bool = False) -> ValidationResult:
    """Check a bundle; see `BundleValidator.validate`."""
    return BundleValidator(strict).validate(bundle)


def validate_bundle_or_raise(bundle: Bundle, *, strict: bool = False) -> None:
    """Check a bundle; see `BundleValidator.validate_or_raise`."""
    BundleValidator(strict).validate_or_raise(bundle)


def validate_bundle_completeness(bundle: Bundle) -> ValidationResult:
    """Check that a bundle can be mounted; see `BundleValidator.validate_completeness`."""
    return BundleValidator().validate_completeness(bundle)


def validate_bundle_completeness_or_raise(bundle: Bundle) -> None:
    """Check that a bundle can be mounted; see `BundleValidator.validate_completeness_or_raise`."""
    BundleValidator().validate_completeness_or_raise(bundle)


def _check_modules(entries: Any, section: str, result: ValidationResult) -> None:
    for index, entry in enumerate(entries):
        where = f"{section}[{index}]"
        if not isinstance(entry, dict):
            result.add_error(f"{where}: Must be a dict, got {_got(entry)}")
            continue
        if not entry.get("module"):
            result.add_error(f"{where}: Missing required 'module' field")
        config = entry.get("config")
        if config is not None and not isinstance(config, dict):
            result.add_error(f"{where}: 'config' must be a dict, got {_got(config)}")


def _check_session(session: Any, result: ValidationResult) -> None:
    if not isinstance(session, dict):
        result.add_error(f"session: Must be a dict, got {_got(session)}")
        return
    for part in ("orchestrator", "context"):
        value = session.get(part)
        if value is None or isinstance(value, str):
            continue
        if not isinstance(value, dict):
            result.add_error(f"session.{part}: Must be a string or dict, got {_got(value)}")
        elif not (value.get("module") or value.get("source")):
            result.add_error(f"session.{part}: Missing required 'module' or 'source' field")


def _raise_if_invalid(result: ValidationResult, what: str) -> None:
    if not result.valid:
        raise BundleValidationError(f"{what}: {'; '.join(result.errors)}")


def _got(value: Any) -> str:
    return type(value).__name__
