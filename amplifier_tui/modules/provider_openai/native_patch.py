"""The Responses API's own `apply_patch`: one operation on one file, as a call of our tool.

The tool takes a whole patch as text, in the same format; the operation is kept beside the call, so
that it goes back to the API as it came.
"""

from collections.abc import Iterable
from typing import Any, Final

from amplifier_tui.kernel.message_models import ToolCall, ToolCallBlock, ToolSpec
from amplifier_tui.kernel.utils.turns import ToolOutput
from amplifier_tui.modules._provider.request import Wire, output_text

TOOL: Final = "apply_patch"
_HEADS: Final = {
    "create_file": "*** Add File: ",
    "update_file": "*** Update File: ",
    "delete_file": "*** Delete File: ",
}


def offers_patch(tools: Iterable[ToolSpec] | None) -> bool:
    """Whether the tool that carries the operations out is among those on offer."""
    return any(tool.name == TOOL for tool in tools or [])


def patch_call(item: Any, *, cut_off: bool = False) -> tuple[ToolCall, ToolCallBlock]:
    """Return an item of the API as a call and its content block.

    ``cut_off`` says that the output limit ended the answer in it: half a patch would fit, too.
    """
    operation = item.operation.model_dump(mode="json")
    patch = None if cut_off else _patch(operation)
    if patch is None:
        problem = f"The {TOOL} operation is none that can be carried out. The tool was not run."
        if cut_off:
            problem = f"The answer was cut off by the output limit. {problem}"
        extra: dict[str, Any] = {"arguments_error": problem}
        return (
            ToolCall(id=item.call_id, name=TOOL, arguments={}, **extra),
            ToolCallBlock(id=item.call_id, name=TOOL, input={}),
        )
    arguments = {"input": patch}
    kept: dict[str, Any] = {"operation": operation}
    return (
        ToolCall(id=item.call_id, name=TOOL, arguments=arguments),
        ToolCallBlock(id=item.call_id, name=TOOL, input=arguments, **kept),
    )


def call_item(block: ToolCallBlock) -> Wire | None:
    """Return a call as the item it came from; None for one of other origin, or changed since."""
    operation = (block.model_extra or {}).get("operation")
    if not isinstance(operation, dict) or _patch(operation) != block.input.get("input"):
        return None
    return {
        "type": "apply_patch_call",
        "call_id": block.id,
        "status": "completed",
        "operation": operation,
    }


def output_item(output: ToolOutput) -> Wire:
    """Return what came of such a call."""
    return {
        "type": "apply_patch_call_output",
        "call_id": output.call_id,
        "status": "failed" if output.is_error else "completed",
        "output": output_text(output),
    }


def _patch(operation: dict[str, Any]) -> str | None:
    """The patch of one operation; None for what is none."""
    head = _HEADS.get(str(operation.get("type")))
    path, diff = operation.get("path"), operation.get("diff") or ""
    # A line end in a path would begin another operation.
    if head is None or not isinstance(path, str) or len(path.splitlines()) != 1:
        return None
    if not isinstance(diff, str):
        return None
    body = diff if not diff or diff.endswith("\n") else f"{diff}\n"
    return f"*** Begin Patch\n{head}{path}\n{body}*** End Patch\n"
