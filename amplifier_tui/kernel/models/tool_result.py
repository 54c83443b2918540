"""What a tool answers."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from amplifier_tui.base.plain import plain
from amplifier_tui.base.text import encodable
from amplifier_tui.kernel.message_models import ImageBlock, TextBlock

IMAGE_OMITTED = (
    "[Image omitted from tool event; original retained for model request if unmodified.]"
)
_CAME_OF_IT: Final = "tool_result"


class ToolResult(BaseModel):
    """The outcome of one tool call (spec 000, ToolResult).

    ``ToolResult(is_error=True)`` is read as ``success=False``. A failure without output takes its
    error message as output, so that the model always reads something.

    Args:
        success: Whether the tool did what it was asked.
        output: What it found: text, or JSON data.
        error: What went wrong, with a ``message`` and usually a ``type``.
        content: Text and base64 image blocks for models that can see.
    """

    model_config = ConfigDict(extra="ignore", validate_assignment=True, defer_build=True)

    success: bool = True
    output: Any | None = None
    error: dict[str, Any] | None = None
    content: list[TextBlock | ImageBlock] | None = None

    _unknown: tuple[tuple[str, ...], str] = PrivateAttr(((), ""))

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, values: Any, handler: ModelWrapValidatorHandler[ToolResult]) -> ToolResult:
        if not isinstance(values, Mapping):
            return handler(values)
        if "is_error" in values:
            values = dict(values)
            failed = bool(values.pop("is_error"))
            if failed or "success" not in values:
                values["success"] = not failed
        made = handler(values)
        unknown = tuple(str(name) for name in values if name not in cls.model_fields)
        if unknown:
            made._unknown = (unknown, _made_at())
        return made

    @field_validator("content", mode="before")
    @classmethod
    def _read_content(cls, blocks: Any) -> Any:
        if blocks is None:
            return None
        if not isinstance(blocks, list | tuple):
            raise ValueError("invalid tool result content")
        return [_plain_block(block) for block in blocks]

    def model_post_init(self, context: Any, /) -> None:
        """Give a failure without output its error message as output."""
        if not self.success and self.output is None and self.error:
            message = self.error.get("message")
            if message:
                # Not by assignment: that would validate, and so come here again.
                self.__dict__["output"] = message

    @model_serializer(mode="wrap")
    def _omit_empty_content(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = handler(self)
        blocks = dumped.pop("content", None)
        if blocks:
            dumped["content"] = [
                {name: value for name, value in block.items() if value is not None}
                for block in blocks
            ]
        return dumped

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> ToolResult:
        """Return a copy; the fields of ``update`` are validated."""
        copied = super().model_copy(deep=deep)
        for name, value in (update or {}).items():
            if name in type(self).model_fields:
                setattr(copied, name, value)
        return copied

    def __str__(self) -> str:
        if self.success:
            return str(self.output) if self.output else "Success"
        return f"Error: {self._problem()}" if self.error else "Failed"

    def _problem(self) -> str:
        return str(self.error.get("message") or "Unknown error") if self.error else "Failed"

    def get_serialized_output(self) -> str:
        """Return the output as text for a model: JSON for data, without control characters."""
        if self.output is None:
            text = "Success" if self.success else f"Error: {self._problem()}"
        elif isinstance(self.output, dict | list):
            text = _to_json(self.output)
        else:
            text = str(self.output)
        return encodable(text)

    def safe_hook_presentation(self) -> dict[str, Any]:
        """Return the dump for an event: images give way to a line of text."""
        try:
            dumped = self.model_dump(mode="json", fallback=str)
        except ValueError:
            # Bytes that are no text, or what holds itself: shown as well as it can be.
            dumped = {name: plain(getattr(self, name)) for name in ("success", "output", "error")}
            if self.content:
                dumped["content"] = plain(self.content)
        for index, block in enumerate(dumped.get("content", ())):
            if block["type"] == "image":
                dumped["content"][index] = {"type": "text", "text": IMAGE_OMITTED}
        return dumped


def text_for_model(result: ToolResult) -> str:
    """Return what a model reads of a result.

    That is the output; of a failure with the error's message before it, where that is not in it.
    """
    text = result.get_serialized_output()
    message = "" if result.success else encodable(str((result.error or {}).get("message") or ""))
    return text if not message or message in text else f"{message}\n{text}"


def unknown_fields(result: ToolResult) -> tuple[tuple[str, ...], str]:
    """Return the fields a result was given and does not have, and file and line where it was made.

    They are ignored, as modules may be written for a later kernel; but a misspelt one is a loss.
    """
    return result._unknown


def _made_at() -> str:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not str(frame.f_globals.get("__name__")).startswith(("pydantic", "amplifier_tui.")):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def interrupted_with(result: ToolResult) -> asyncio.CancelledError:
    """Return what a tool that is cancelled raises, in place of the error it got: with its result.

    It has no class of its own: before Python 3.13 `asyncio.timeout` takes no other for the end it
    set itself, and whoever had called the tool under one would be cancelled as a whole.
    """
    error = asyncio.CancelledError("the call was interrupted")
    vars(error)[_CAME_OF_IT] = result
    return error


def interrupted_result(error: asyncio.CancelledError) -> ToolResult | None:
    """Return what had come of a tool's call that was cancelled; None for nothing."""
    found = vars(error).get(_CAME_OF_IT)
    return found if isinstance(found, ToolResult) else None


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        # Circular, or keys JSON has no name for: still better read than lost.
        return str(value)


def _plain_block(block: Any) -> dict[str, Any]:
    if isinstance(block, BaseModel):
        block = block.model_dump()
    if isinstance(block, Mapping):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            return {"type": "text", "text": block["text"]}
        if block.get("type") == "image":
            return {"type": "image", "source": _plain_source(block.get("source"))}
    raise ValueError("invalid tool result content")


def _plain_source(source: Any) -> dict[str, str]:
    if not isinstance(source, Mapping) or source.get("type") != "base64":
        raise ValueError("invalid tool result image source")
    media_type, data = source.get("media_type"), source.get("data")
    if not isinstance(media_type, str) or not (
        media_type.startswith("image/") or media_type == "application/pdf"
    ):
        raise ValueError("invalid tool result image media type")
    if media_type == "image/":
        raise ValueError("invalid tool result image media type")
    if not isinstance(data, str) or not data:
        raise ValueError("invalid tool result image data")
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("invalid tool result image data") from error
    return {"type": "base64", "media_type": media_type, "data": data}
