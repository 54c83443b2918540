"""Servers that the user names for one session, in a mount plan."""

from typing import Any

import pytest

from amplifier_tui.foundation.trust.mcp_servers import add_servers

MINE = {"mine": {"command": "x"}}


@pytest.mark.parametrize("own", [{}, {"servers": ["odd"]}, {"mcpServers": {"mine": {"url": "y"}}}])
def test_they_count_before_those_of_the_bundle_whatever_that_says(own: dict[str, Any]) -> None:
    plan = {"tools": [{"module": "tool-mcp", "config": own}]}
    assert add_servers(plan, MINE)
    assert plan["tools"][0]["config"] == {"servers": MINE}


def test_another_module_of_that_id_is_not_told_of_them() -> None:
    plan = {"tools": [{"module": "tool-mcp", "source": "git+https://example.com/x"}]}
    assert not add_servers(plan, MINE)
    assert "config" not in plan["tools"][0]
