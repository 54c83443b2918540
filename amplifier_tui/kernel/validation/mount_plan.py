"""Checks a mount plan before a session is made of it.

It is stricter than a session: it wants orchestrator and context as dicts, where a session also
takes their ids.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from amplifier_tui.kernel.validation.base import Findings, ValidationCheck, failure, success

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

    def validate(self, mount_plan: Any) -> MountPlanValidationResult:
        """Check a plan; anything that is no dict fails."""
        result = MountPlanValidationResult()
        if not isinstance(mount_plan, dict):
            found = f"Mount plan must be a dict, got {_kind(mount_plan)}"
            result.fail("root_type", found, "Give a dict with a 'session' section")
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
            if section in mount_plan:
                self._check_list(result, mount_plan[section], section)
        return result

    def _check_session(self, result: MountPlanValidationResult, session: Any) -> None:
        if not isinstance(session, dict):
            found = f"Session section must be a dict, got {_kind(session)}"
            result.fail("session_type", found, "Give it 'orchestrator' and 'context'")
            return
        for part in self.REQUIRED_SESSION_FIELDS:
            if part in session:
                self._check_spec(result, session[part], f"session.{part}")
            else:
                result.fail(
                    f"session_{part}_present",
                    f"Session section missing required '{part}' field",
                    f"Add: '{part}': {_SHAPE}",
                )

    def _check_list(self, result: MountPlanValidationResult, specs: Any, section: str) -> None:
        if not isinstance(specs, list):
            found = f"'{section}' section must be a list, got {_kind(specs)}"
            result.fail(f"{section}_type", found, f"Give a list of {_SHAPE}")
            return
        for index, spec in enumerate(specs):
            self._check_spec(result, spec, f"{section}[{index}]")

    def _check_spec(self, result: MountPlanValidationResult, spec: Any, place: str) -> None:
        if not isinstance(spec, dict):
            found = f"Module spec at {place} must be a dict, got {_kind(spec)}"
            result.fail(f"{place}_type", found, f"Write it as {_SHAPE}")
            return
        result.add(self._module_check(spec, place))
        if spec.get("config") is not None and not isinstance(spec["config"], dict):
            found = f"Config at {place} must be a dict, got {_kind(spec['config'])}"
            result.fail(f"{place}_config_type", found, "Give settings by name")
        if spec.get("source") is not None and not isinstance(spec["source"], str):
            found = f"Source at {place} must be a string, got {_kind(spec['source'])}"
            result.fail(f"{place}_source_type", found, "Give a path or a git+https URI")

    def _module_check(self, spec: dict[Any, Any], place: str) -> ValidationCheck:
        remedy = "Name the module, e.g. 'tool-bash'"
        if "module" not in spec:
            found = f"Module spec at {place} missing required 'module' field; expected {_SHAPE}"
            return failure(f"{place}_module_required", found, remedy)
        module = spec["module"]
        if not isinstance(module, str):
            found = f"Module path at {place} must be a string, got {_kind(module)}"
            return failure(f"{place}_module_type", found, remedy)
        if not module.strip():
            return failure(
                f"{place}_module_empty", f"Module path at {place} cannot be empty", remedy
            )
        return success(f"{place}_module_valid", f"Module path '{module}' at {place} is valid")


def _kind(value: Any) -> str:
    return type(value).__name__
