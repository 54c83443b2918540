import pytest

from amplifier_tui.base.nearest import did_you_mean, nearest


@pytest.mark.parametrize(
    ("name", "meant"),
    [("timeot", "timeout"), ("TIMEOUT", "timeout"), ("conifg", "Config"), ("zzz", None)],
)
def test_the_name_that_is_most_alike_is_found(name: str, meant: str | None) -> None:
    assert nearest(name, ["timeout", "Config", "other"]) == meant


def test_a_common_beginning_alone_makes_no_name_alike() -> None:
    assert nearest("tool-zz", ["tool-web", "tool-bash"]) is None
    assert nearest("tool-bsh", ["tool-web", "tool-bash"]) == "tool-bash"


def test_the_offer_ends_a_sentence_or_is_not_made() -> None:
    assert did_you_mean("codng", ["coding"]) == "; did you mean 'coding'?"
    assert did_you_mean("codng", ["coding"], "`") == "; did you mean `coding`?"
    assert did_you_mean("codng", []) == ""
