"""Where each of many rows of different heights begins."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class Heights:
    """A list of heights with their prefix sums.

    Sums are rebuilt when read, from the first height that changed: appending to a long list
    costs nothing, a change at its start a millisecond for ten thousand.
    """

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._offsets: list[int] = [0]
        self._valid = 0  # offsets[: _valid + 1] are right

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.offset(len(self._heights))

    def set(self, index: int, height: int) -> None:
        """Change a height."""
        if height != self._heights[index]:
            self._heights[index] = height
            self._valid = min(self._valid, index)

    def insert(self, index: int, heights: Iterable[int]) -> None:
        """Put heights in before `index`."""
        self._heights[index:index] = heights
        self._valid = min(self._valid, index)

    def delete(self, index: int, count: int) -> None:
        """Take `count` heights out."""
        del self._heights[index : index + count]
        self._valid = min(self._valid, index)

    def scale(self, factor: float) -> None:
        """Estimate all heights anew for a width that changed; one row stays one row."""
        if factor != 1:
            self._heights = [
                height if height < 3 else max(2, round(height * factor)) for height in self._heights
            ]
            self._valid = 0

    def offset(self, index: int) -> int:
        """Return the row at which `index` begins; `len(self)` is the end."""
        self._settle()
        return self._offsets[index]

    def find(self, row: int) -> int:
        """Return the index that covers `row`; rows outside give the first or the last one."""
        self._settle()
        last = len(self._heights) - 1
        return max(0, min(last, bisect_right(self._offsets, row) - 1))

    def _settle(self) -> None:
        if self._valid == len(self._heights) and len(self._offsets) == self._valid + 1:
            return
        start = self._valid
        self._offsets[start:] = accumulate(self._heights[start:], initial=self._offsets[start])
        self._valid = len(self._heights)
