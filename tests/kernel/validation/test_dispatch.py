from pathlib import Path

import pytest

from amplifier_tui.kernel.validation import VALIDATORS, validate_module


def test_there_is_a_validator_for_each_kind_that_has_a_contract() -> None:
    assert sorted(VALIDATORS) == ["context", "hook", "orchestrator", "provider", "tool"]
    for kind, validator in VALIDATORS.items():
        assert validator.kind == kind
        assert validator.__name__ == f"{kind.title()}Validator"


async def test_an_unknown_kind_is_not_judged(tmp_path: Path) -> None:
    assert await validate_module("gadget", tmp_path, "gadget-x") is None


@pytest.mark.parametrize("kind", sorted(VALIDATORS))
async def test_a_kinds_own_validator_is_asked_with_the_config(kind: str, tmp_path: Path) -> None:
    package = tmp_path / f"amplifier_module_asked_for_{kind}"
    package.mkdir()
    (package / "__init__.py").write_text(
        "async def mount(coordinator, config):\n    raise ValueError(config['why'])\n"
    )
    result = await validate_module(kind, package, f"{kind}-x", {"why": "because"})
    assert result is not None
    assert (result.module_type, result.module_path) == (kind, str(package))
    [error] = result.errors
    assert error.name == "protocol_compliance"
    assert error.message == "Error during protocol compliance check: ValueError: because"
