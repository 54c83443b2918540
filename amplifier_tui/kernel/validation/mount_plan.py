"""Checks a mount plan before a session is made of it.

It is stricter than a session: it wants orchestrator and context as dicts, where a session also
takes their ids.
"""

from dataclasses import field
from typing import Any, ClassVar

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.validation.base import Findings, ValidationCheck

_SHAPE = "{'module': 'module-name', 'source': '...', 'config': {...}}"


@dataclass
class MountPlanValidationResult(Findings):
    """All that was looked at in one mount plan, in order."""

    checks: list[ValidationCheck] = field(default_factory=list)

    def format_errors(self) -> str:
        """Return the errors as a numbered list; "No errors" if there are none."""
        errors = self.errors
        if not errors:
            return "No errors"
        rows = [f"  {n}. [{check.name}] {check.message}" for n, check in enumerate(errors, 1)]
        return "\n".join(
            ["Mount Plan Validation Failed:", "", *rows, "", f"Total: {len(errors)} error(s)"]
        )


class MountPlanValidator:
    """Checks the structure of a plan; modules are neither looked for nor loaded."""

    REQUIRED_SECTIONS: ClassVar[frozenset[str]] = frozenset({"session"})
    OPTIONAL_SECTIONS: ClassVar[frozenset[str]] = frozenset(
        {"providers", "tools", "hooks", "agents"}
    )
    REQUIRED_SESSION_FIELDS: ClassVar[tuple[str, ...]] = ("orchestrator", "context")
    REQUIRED_MODULE_SPEC_FIELDS: ClassVar[frozenset[str]] = frozenset({"module"})

    def validate(self, mount_plan: Any) -> MountPlanValidationResult:
        """Check a plan; anything that is no dict fails."""
        result = MountPlanValidationResult()
        remedy = "Give a dict with a 'session' section"
        if not _is(dict, mount_plan, result, "root_type", "Mount plan", remedy):
            return result
        result.succeed("root_type", "Mount plan is a dict")
        if "session" in mount_plan:
            result.succeed("session_present", "Session section present")
            self._check_session(result, mount_plan["session"])
        else:
            result.fail(
                "session_present",
                "Mount plan missing required 'session' section",
                f"Add: 'session': {{'orchestrator': {_SHAPE}, 'context': {_SHAPE}}}",
            )
        known = self.REQUIRED_SECTIONS | self.OPTIONAL_SECTIONS
        unknown = sorted(str(section) for section in mount_plan if section not in known)
        if unknown:
            result.fail(
                "unknown_sections",
                f"Unknown sections will be ignored: {unknown}",
                f"Known are: {', '.join(sorted(known))}",
                "warning",
            )
        for section in ("providers", "tools", "hooks"):
            specs, what = mount_plan.get(section, []), f"'{section}' section"
            if _is(list, specs, result, f"{section}_type", what, f"Give a list of {_SHAPE}"):
                for index, spec in enumerate(specs):
                    _check_spec(result, spec, f"{section}[{index}]")
        return result

    def _check_session(self, result: MountPlanValidationResult, session: Any) -> None:
        remedy = "Give it 'orchestrator' and 'context'"
        if not _is(dict, session, result, "session_type", "Session section", remedy):
            return
        for part in self.REQUIRED_SESSION_FIELDS:
            if part in session:
                _check_spec(result, session[part], f"session.{part}")
            else:
                result.fail(
                    f"session_{part}_present",
                    f"Session section missing required '{part}' field",
                    f"Add: '{part}': {_SHAPE}",
                )


def _check_spec(result: Findings, spec: Any, place: str) -> None:
    shape = f"Write it as {_SHAPE}"
    if not _is(dict, spec, result, f"{place}_type", f"Module spec at {place}", shape):
        return
    remedy = "Name the module, e.g. 'tool-bash'"
    module, what = spec.get("module"), f"Module path at {place}"
    if "module" not in spec:
        found = f"Module spec at {place} missing required 'module' field; expected {_SHAPE}"
        result.fail(f"{place}_module_required", found, remedy)
    elif _is(str, module, result, f"{place}_module_type", what, remedy):
        if module.strip():
            found = f"Module path '{module}' at {place} is valid"
            result.succeed(f"{place}_module_valid", found)
        else:
            result.fail(f"{place}_module_empty", f"{what} cannot be empty", remedy)
    config, source = spec.get("config"), spec.get("source")
    if config is not None:
        name, what = f"{place}_config_type", f"Config at {place}"
        _is(dict, config, result, name, what, "Give settings by name")
    if source is not None:
        name, what = f"{place}_source_type", f"Source at {place}"
        _is(str, source, result, name, what, "Give a path or a git+https URI")


def _is(kind: type, value: Any, result: Findings, name: str, what: str, remedy: str) -> bool:
    """Tell whether a value is of a kind; add a failed check if not."""
    if not isinstance(value, kind):
        word = "string" if kind is str else kind.__name__
        result.fail(name, f"{what} must be a {word}, got {type(value).__name__}", remedy)
    return isinstance(value, kind)
