"""Checks tool modules."""

from __future__ import annotations

from typing import Any, ClassVar

from amplifier_tui.kernel.validation.base import ValidationResult, failure, success
from amplifier_tui.kernel.validation.details import check_method, check_text
from amplifier_tui.kernel.validation.module_validator import InstanceValidator

__all__ = ["ToolValidator"]


class ToolValidator(InstanceValidator):
    """Checks that a module mounts tools that can be described to a model and executed."""

    kind: ClassVar[str] = "tool"
    point: ClassVar[str] = "tools"
    contract: ClassVar[str] = "Tool"
    noun: ClassVar[str] = "tool"
    required: ClassVar[tuple[str, ...]] = ("name", "description", "execute")
    attributes: ClassVar[tuple[str, ...]] = ("name", "description")

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``tool_name``, ``tool_description``, ``tool_input_schema`` and ``tool_execute``."""
        result.add(check_text("tool_name", "Tool.name", instance.name))
        result.add(
            check_text("tool_description", "Tool.description", instance.description, "warning")
        )
        if hasattr(instance, "input_schema"):
            schema = instance.input_schema
            if isinstance(schema, dict):
                count = len(schema.get("properties") or ())
                found = f"Tool.input_schema returns dict with {count} properties"
                result.add(success("tool_input_schema", found))
            else:
                result.add(
                    failure(
                        "tool_input_schema",
                        f"Tool.input_schema should return a dict, got {type(schema).__name__}",
                        'Return a JSON schema: {"type": "object", "properties": {...}}',
                        "warning",
                    )
                )
        result.add(check_method("tool_execute", "Tool.execute()", instance.execute, ("input",)))
