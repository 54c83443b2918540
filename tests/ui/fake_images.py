"""What a scripted session answers of the images of its conversation."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from tests.ui.fake_imported import answer


@dataclass
class FakeImages:
    """Gives images.

    Attributes:
        calls: Every call with its arguments, in order.
        pictures: What `image` answers by key; it fails for others.
    """

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)

    def image(self, key: str, lane: str = "main") -> Future[bytes]:
        self.calls.append(("image", key, lane))
        return answer(self.pictures.get(key, RuntimeError("it is not stored any more")))
