"""Which background commands a stored conversation leaves without an end."""

from typing import Any

import pytest

from amplifier_tui.modules.tool_bash.earlier_jobs import earlier_jobs, started

Rows = list[dict[str, Any]]


def called(call_id: str, tool: str, result: Any, **arguments: Any) -> Rows:
    call = {"id": call_id, "tool": tool, "arguments": arguments}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


BEGUN = called("1", "bash", started("job-3"), command="make watch")


@pytest.mark.parametrize(
    "later",
    [
        called("2", "bash_job", "out\n[job-3: exit code 0]", action="read", job_id="job-3"),
        called("2", "bash_job", "[job-3: stopped]", action="stop", job_id="job-3"),
        called("2", "bash_job", "job-3: exit code 0, 4 s, make watch", action="list"),
        [
            {
                "role": "user",
                "content": '<system-reminder source="tool-bash">\njob-3: ended with its session\n',
            }
        ],
    ],
)
def test_one_whose_end_was_told_is_not_told_again(later: Rows) -> None:
    assert earlier_jobs([*BEGUN, *later]) == (3, {})


@pytest.mark.parametrize(
    "later",
    [
        [],
        called("2", "bash_job", "[job-3: exit code 0]\n[job-3: running]", job_id="job-3"),
        called("2", "bash_job", "[job-4: exit code 0]", job_id="job-4"),
        called("2", "bash", "[job-3: exit code 0]", command="cat log"),
        called("2", "bash", "x [job-4 runs in the background; bash_job reads on]", command="cat"),
        [{"role": "user", "content": "job-3: ended"}],
    ],
)
def test_one_that_ran_on_is_kept_with_its_command(later: Rows) -> None:
    assert earlier_jobs([*BEGUN, *later]) == (3, {"job-3": "make watch"})


def test_a_result_in_blocks_is_read() -> None:
    blocks = [{"type": "text", "text": started("job-1")}]
    assert earlier_jobs(called("1", "bash", blocks, command="x")) == (1, {"job-1": "x"})


def test_one_without_network_is_read_as_well() -> None:
    begun = called("1", "bash", started("job-2", alone=True), command="serve")
    assert earlier_jobs(begun) == (2, {"job-2": "serve"})
