"""The protocol's models, which are many: what is not needed of them is not made."""

from pydantic import BaseModel, ConfigDict

from amplifier_tui.cli.acp.command import without_descriptions


def description() -> str | None:
    class Described(BaseModel):
        model_config = ConfigDict(use_attribute_docstrings=True)

        size: int
        """How large it is."""

    return Described.model_fields["size"].description


def test_docstrings_of_fields_are_not_read_meanwhile_and_are_afterwards() -> None:
    with without_descriptions():
        assert description() is None
    assert description() == "How large it is."
