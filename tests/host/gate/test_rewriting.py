"""Rules added to a file of rules and taken out of it: what a hand wrote around them stays."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.gate.rules.rewriting import rewritten

HAND = """\
# My rules.
allow:  # these go
    - bash(git status)   # harmless
    # The suite.
    - "bash(npm run test *)"
deny: [web, 'bash(git push *)']  # never

projects:
  /work/shop:   # the shop
    ask:
    - read(.env)
  # nothing for this one yet
  /work/other:
"""


def changed(text: str, **lists: Any) -> str:
    wanted = (yaml.safe_load(text) or {}) | lists
    found = rewritten(text, wanted)
    kept = {key: value for key, value in wanted.items() if value}
    assert {key: value for key, value in yaml.safe_load(found).items() if value} == kept
    return found


def lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that are gone and those that are new."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_a_new_rule_is_one_new_line_beside_the_others() -> None:
    rules = ["bash(git status)", "bash(npm run test *)", 'mcp_x({"a": 1})']
    after = changed(HAND, allow=rules)
    assert lines(HAND, after) == ([], ['    - "mcp_x({\\"a\\": 1})"'])
    assert after.index("npm run test") < after.index("mcp_x") < after.index("deny:")


def test_a_rule_that_is_gone_takes_nothing_with_it_but_its_line() -> None:
    gone, new = lines(HAND, changed(HAND, allow=["bash(npm run test *)"]))
    assert (gone, new) == (["    - bash(git status)   # harmless"], [])
    after = changed(HAND, deny=["bash(git push *)"])
    assert "deny: ['bash(git push *)']  # never" in after
    assert "deny: [web]  # never" in changed(HAND, deny=["web"])
    assert "deny: []  # never" in changed(HAND, deny=[])
    assert "# My rules." in changed(HAND, allow=[])


def test_lists_and_projects_that_are_missing_are_added() -> None:
    after = changed(HAND, ask=["echo"])
    assert lines(HAND, after) == ([], ["ask:", '  - "echo"'])
    projects = {"/work/shop": {"ask": ["read(.env)"], "allow": ["ls"]}, "/work/other": None}
    after = changed(HAND, projects=projects | {"/work/new": {"deny": ["web"]}})
    assert "# the shop" in after and "# nothing for this one yet" in after
    assert changed("allow:  # none yet\n", allow=["a", "b"]).startswith("allow:  # none yet\n  - ")
    after = changed("# Only words.\n", allow=["echo"])
    assert after.startswith("# Only words.\nallow:\n")
    assert changed("", allow=["echo"], projects={"/a b: c": {"deny": ["web"]}})


def test_what_is_laid_out_in_another_way_still_holds_what_is_wanted() -> None:
    for text in ("{allow: [a], deny: []}", "allow: [a,]\n", "allow: &x [a]\ndeny: *x\n", "null\n"):
        changed(text, allow=["a", "b"], ask=["c"])


RULES = st.lists(
    st.sampled_from(["bash(ls)", "a: b", "'q'", "# no", "- x", "漢字", 'm({"a": 1})']),
    unique=True,
    max_size=4,
)


@given(
    st.sampled_from([HAND, "", "allow: []\n", "projects:\n", "deny:\n- web\n"]),
    st.fixed_dictionaries({}, optional={"allow": RULES, "ask": RULES, "deny": RULES}),
    RULES,
)
def test_whatever_is_wanted_is_what_the_file_then_holds(
    text: str, lists: dict[str, list[str]], theirs: list[str]
) -> None:
    wanted = (yaml.safe_load(text) or {}) | lists | {"projects": {"/work/shop": {"ask": theirs}}}
    found = yaml.safe_load(rewritten(text, wanted)) or {}
    for name in ("allow", "ask", "deny"):
        assert (found.get(name) or []) == (wanted.get(name) or [])
    shop = (found.get("projects") or {}).get("/work/shop") or {}
    assert (shop.get("ask") or []) == theirs


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_a_missing_last_one_do_no_harm(newline: str) -> None:
    text = newline.join(["allow:", "  - a", "deny:", "  - b"])
    assert yaml.safe_load(changed(text, deny=["b", "c"])) == {"allow": ["a"], "deny": ["b", "c"]}
