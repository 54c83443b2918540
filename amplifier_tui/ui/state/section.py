"""What every part of the state has: a version that moves when, and only when, it changed."""


class Section:
    """A part of the state that is drawn together.

    A widget keeps the version it drew last and repaints only when it differs.
    """

    __slots__ = ("version",)

    def __init__(self) -> None:
        self.version = 0

    def touch(self) -> None:
        """Say that something a widget could show has changed."""
        self.version += 1
