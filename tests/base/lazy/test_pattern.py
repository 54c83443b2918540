import copy
import re

import pytest

from amplifier_tui.base.lazy.pattern import lazy_pattern


def test_it_is_compiled_when_it_is_first_used_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def counting(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return compile_now(text, flags)

    monkeypatch.setattr(re, "compile", counting)
    pattern = lazy_pattern("a(?P<rest>b+)", re.IGNORECASE)
    assert compiled == []
    found = pattern.search("xABB")
    assert found is not None and found["rest"] == "BB"
    assert [match.group() for match in pattern.finditer("ab abb")] == ["ab", "abb"]
    assert pattern.sub("-", "ab c") == "- c"
    assert pattern.pattern == "a(?P<rest>b+)"
    assert dict(pattern.groupindex) == {"rest": 1}
    assert compiled == ["a(?P<rest>b+)"]


def test_it_can_be_copied_before_it_was_used() -> None:
    assert copy.deepcopy(lazy_pattern("a")).fullmatch("a")


def test_what_is_no_expression_is_said_at_the_first_use() -> None:
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.match("")
