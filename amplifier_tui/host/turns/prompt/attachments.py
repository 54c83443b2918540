"""What is attached to a prompt: text of files, and images."""

from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import images, open_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.context_file import context_file
from amplifier_tui.base.messages.mentions import parse_mentions
from amplifier_tui.foundation.protocols import MentionResolverProtocol
from amplifier_tui.host.gate.mentions import kept_back

ATTACHMENT_LIMIT: Final = 512 * 1024
"""Bytes of an attached file of text that goes along."""
MOST_IMAGES: Final = 10
"""Images and PDFs of one prompt."""


@dataclass(slots=True)
class Attached:
    """What goes along with a prompt.

    Attributes:
        texts: Files, each in its tags.
        images: Blocks of a message.
        names: What each of these is called; empty for one that has no file.
        problems: What does not go along, and why.
    """

    texts: list[str] = field(default_factory=list)
    images: list[dict[str, Any]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def shown(name: str) -> str:
    """Return what an attachment is called: its path, or what kind of image it is."""
    if not images.is_data_url(name):
        return name
    head, _, data = name.partition(";")
    return f"{head.removeprefix('data:')}, about {len(data) * 3 // 4096} KiB"


def mentioned_images(text: str, resolver: MentionResolverProtocol | None) -> tuple[str, ...]:
    """Return the paths of the images and PDFs that the user's text mentions."""
    found = map(resolver.resolve, parse_mentions(text)) if resolver is not None else ()
    return tuple(str(path) for path in found if path is not None and _is_image(path))


def _is_image(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            return images.media_type(file.read(images.HEAD)) is not None
    except OSError:
        # Why a mention can't be read is found out where its text is loaded.
        return False


def read_attachments(workspace: Path, names: tuple[str, ...]) -> Attached:
    """Read what is attached, each file once; what can't be read is named.

    Args:
        workspace: Where relative paths begin.
        names: Paths, or images as `data:` addresses.
    """
    attached = Attached()
    seen: set[Path] = set()
    for name in names:
        try:
            data = _data(workspace, name)
            if not images.is_data_url(name):
                # One that is attached may be mentioned as well.
                path = (workspace / Path(name).expanduser()).resolve()
                if path in seen:
                    continue
                seen.add(path)
            kind = images.media_type(data[: images.HEAD])
            if kind is not None:
                _add_image(attached, data, kind, name)
            elif images.is_data_url(name):
                raise ValueError("no image")
            else:
                _add_text(attached, data, name)
        except UnicodeDecodeError:
            attached.problems.append(f"{name}: not a text file")
        except (OSError, ValueError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or error
            attached.problems.append(f"{shown(name)}: {why}")
    return attached


def _data(workspace: Path, name: str) -> bytes:
    if images.is_data_url(name):
        if len(name) > 2 * images.MAX_BYTES:
            raise ValueError(f"larger than {images.MAX_BYTES} bytes")
        return images.data_of(name)
    path = workspace / Path(name).expanduser()
    if reason := kept_back(path, workspace):
        raise ValueError(f"it {reason}")
    if not path.is_file():
        raise ValueError("no such file")
    with path.open("rb") as file:
        return file.read(images.MAX_BYTES + 1)


def _add_image(attached: Attached, data: bytes, kind: str, name: str) -> None:
    if problem := images.too_large(data):
        raise ValueError(problem)
    if len(attached.images) == MOST_IMAGES:
        raise ValueError(f"more than {MOST_IMAGES} images")
    attached.images.append({"type": "image", "source": images.image_source(data, kind)})
    attached.names.append("" if images.is_data_url(name) else Path(name).name)


def _add_text(attached: Attached, data: bytes, name: str) -> None:
    if len(data) > ATTACHMENT_LIMIT:
        raise ValueError(f"larger than {ATTACHMENT_LIMIT // 1024} KiB")
    attached.texts.append(context_file(name, data.decode("utf-8-sig")))
