"""Checks provider modules."""

from __future__ import annotations

from typing import Any, ClassVar

from amplifier_tui.kernel.models import ProviderInfo
from amplifier_tui.kernel.validation.base import (
    ValidationCheck,
    ValidationResult,
    failure,
    success,
)
from amplifier_tui.kernel.validation.details import check_method, check_text
from amplifier_tui.kernel.validation.module_validator import InstanceValidator

__all__ = ["ProviderValidator"]


class ProviderValidator(InstanceValidator):
    """Checks that a module mounts providers with all five members of the contract."""

    kind: ClassVar[str] = "provider"
    point: ClassVar[str] = "providers"
    contract: ClassVar[str] = "Provider"
    noun: ClassVar[str] = "provider"
    required: ClassVar[tuple[str, ...]] = (
        "name",
        "get_info",
        "list_models",
        "complete",
        "parse_tool_calls",
    )
    attributes: ClassVar[tuple[str, ...]] = ("name",)

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``provider_name`` and one check for each method."""
        result.add(check_text("provider_name", "Provider.name", instance.name))
        result.add(_check_info(instance))
        result.add(
            check_method("provider_list_models", "Provider.list_models()", instance.list_models, ())
        )
        result.add(
            check_method(
                "provider_complete", "Provider.complete()", instance.complete, ("request",)
            )
        )
        # Whether it can be called was seen with the rest of the contract.
        found = "Provider.parse_tool_calls() exists and is callable"
        result.add(success("provider_parse_tool_calls", found))


def _check_info(provider: Any) -> ValidationCheck:
    name = "provider_get_info"
    try:
        info = provider.get_info()
    except Exception as error:
        return failure(
            name,
            f"Error calling Provider.get_info(): {error}",
            "get_info() should work without a network or a key",
            "warning",
        )
    if isinstance(info, ProviderInfo):
        return success(name, "Provider.get_info() returns ProviderInfo")
    return failure(
        name,
        f"Provider.get_info() should return ProviderInfo, got {type(info).__name__}",
        "Return ProviderInfo(id=..., display_name=...); it is not async",
    )
