"""What an editor sends with a prompt, as attached files; images, as an editor is sent them."""

import asyncio
import base64
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from acp import helpers, schema

from amplifier_tui.base.files.images import IMAGES
from amplifier_tui.base.messages.context_file import context_file
from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import SessionClient
from amplifier_tui.host.events import ImageCard, ImagesAdded

logger = logging.getLogger(__name__)

_MOST_IMAGES: Final = 10
"""Images of one call or prompt that the editor is sent."""


class EditorPrompt(NamedTuple):
    """A prompt of an editor.

    Attributes:
        text: All that is sent as text.
        files: What is attached: paths, and images as addresses.
        typed: The user's own words in the text.
    """

    text: str
    files: tuple[str, ...]
    typed: str


def prompt_of(blocks: Sequence[Any]) -> EditorPrompt:
    """Return the prompt that an editor sends.

    Text that an editor embeds goes into the text, with its address, as it may differ from what is
    on disk. An address that is no file is named.

    Raises:
        ValueError: Something can't be sent to a model, in words.
    """
    texts: list[str] = []
    typed: list[str] = []
    files: list[str] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock():
                texts.append(block.text)
                typed.append(block.text)
            case schema.ImageContentBlock():
                files.append(f"data:{one_line(block.mime_type, 40)};base64,{block.data}")
            case schema.EmbeddedResourceContentBlock(resource=schema.BlobResourceContents() as it):
                files.append(f"data:{one_line(it.mime_type or 'x/x', 40)};base64,{it.blob}")
            case schema.ResourceContentBlock():
                path = path_of(block.uri)
                if path is None:
                    texts.append(f"[{one_line(block.title or block.name)}]({one_line(block.uri)})")
                else:
                    files.append(str(path))
            case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as it):
                texts.append(context_file(one_line(it.uri), it.text))
            case _:
                raise ValueError(
                    f"A prompt can't have {block.type} here; send text, images and files"
                )
    return EditorPrompt(_joined(texts), tuple(files), _joined(typed))


def _joined(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if text.strip())


def path_of(uri: str) -> Path | None:
    """Return the path that a `file:` address names; None for any other address."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(unquote(parts.path))


def servers_of(given: Sequence[Any]) -> dict[str, dict[str, object]]:
    """Return the MCP servers an editor passes in, by name, as `tool-mcp` takes them.

    Those of another kind than programs and HTTP are left out: the protocol says that they are not
    sent to who does not offer them.
    """
    found: dict[str, dict[str, object]] = {}
    for server in given:
        match server:
            case schema.McpServerStdio():
                env = {each.name: each.value for each in server.env}
                found[server.name] = {"command": server.command, "args": server.args, "env": env}
            case schema.HttpMcpServer():
                headers = {each.name: each.value for each in server.headers}
                found[server.name] = {"type": "http", "url": server.url, "headers": headers}
            case _:
                continue
    return found


def sent_images(event: ImagesAdded) -> list[ImageCard]:
    """Return which of the images of an event the editor is sent."""
    return [card for card in event.images if card.media_type in IMAGES][:_MOST_IMAGES]


async def image_blocks(client: SessionClient, event: ImagesAdded) -> list[Any]:
    """Return the images of an event as blocks, as far as they can be had."""
    blocks = []
    for card in sent_images(event):
        try:
            data = await asyncio.wrap_future(client.image(card.key, event.agent))
        except RuntimeError as error:
            logger.warning("The editor is not sent an image: %s", error)
        else:
            text = base64.b64encode(data).decode("ascii")
            blocks.append(helpers.image_block(text, card.media_type))
    return blocks
