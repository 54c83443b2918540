"""A JSON value as lines that fold: children are made only when their parent opens."""

import json
from collections.abc import Iterable
from dataclasses import field
from functools import reduce
from itertools import islice
from typing import Any

from rich.cells import chop_cells

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import clean

PAGE = 500
"""Children shown at a time; a line at the end shows the next ones."""

_OPEN_DEPTH = 2
_OPEN_MEMBERS = 40
_LONG = 120


@dataclass(slots=True, eq=False)
class Node:
    """One value under its key; `expanded` shows `shown` children, or the whole of a long text."""

    key: str | int | None
    value: Any
    depth: int
    parent: "Node | None" = None
    expanded: bool = False
    shown: int = PAGE
    _children: "list[Node]" = field(default_factory=list)

    @property
    def is_container(self) -> bool:
        """True for an object or array with something in it."""
        return isinstance(self.value, dict | list) and bool(self.value)

    @property
    def is_text(self) -> bool:
        """True for a text that does not fit beside its key."""
        return isinstance(self.value, str) and ("\n" in self.value or len(self.value) > _LONG)

    @property
    def folds(self) -> bool:
        """True when there is something to open or close."""
        return self.is_container or self.is_text

    def children(self) -> "list[Node]":
        """Return the children that are shown, making those that are still missing."""
        if not self.is_container:
            return []
        if len(self._children) < self.shown:
            items = self.value.items() if isinstance(self.value, dict) else enumerate(self.value)
            self._children += [
                Node(key, value, self.depth + 1, self)
                for key, value in islice(items, len(self._children), self.shown)
            ]
        return self._children

    def path(self) -> str:
        """Return where the value is: `tool_input.paths[3]`; empty for the root."""
        keys: list[str | int] = []
        node: Node | None = self
        while node is not None and node.key is not None:
            keys.append(node.key)
            node = node.parent
        return reduce(_below, reversed(keys), "")

    def text(self) -> str:
        """Return the value as it is copied: a text as it is, anything else as JSON."""
        if isinstance(self.value, str):
            return self.value
        return _dump(self.value, indent=2)


@dataclass(frozen=True, slots=True)
class TreeLine:
    """One line: a node's own (`part` is None), a part of its text, or `rest` more children."""

    node: Node
    part: str | None = None
    rest: int = 0


class JsonTree:
    """A parsed JSON value with what is open in it."""

    def __init__(self, value: Any) -> None:
        self.root = Node(None, value, 0, expanded=True)
        self._open_small(self.root)

    def lines(self, width: int) -> list[TreeLine]:
        """Return the visible lines; the root's own only when it is all there is."""
        if not self.root.is_container:
            return self._of_node(self.root, width)
        # A stack of iterators: hostile JSON may nest deeper than Python recurses.
        lines: list[TreeLine] = []
        stack = [(self.root, iter(self.root.children()))]
        while stack:
            parent, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                rest = len(parent.value) - len(parent.children())
                if rest > 0:
                    lines.append(TreeLine(parent, rest=rest))
                continue
            lines += self._of_node(child, width)
            if child.is_container and child.expanded:
                stack.append((child, iter(child.children())))
        return lines

    def toggle(self, line: TreeLine) -> None:
        """Open or close a node, or show more children."""
        if line.rest:
            line.node.shown += PAGE
        elif line.node.folds:
            line.node.expanded = not line.node.expanded

    def _of_node(self, node: Node, width: int) -> list[TreeLine]:
        own = [TreeLine(node)]
        if not (node.is_text and node.expanded):
            return own
        room = max(8, width - 2 * node.depth - 2)
        return own + [TreeLine(node, part=part) for part in wrap_cells(node.value, room)]

    def _open_small(self, node: Node) -> None:
        for child in node.children() if node.depth < _OPEN_DEPTH else ():
            if child.is_container and len(child.value) <= _OPEN_MEMBERS:
                child.expanded = True
                self._open_small(child)


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that a hook changed; a side that has none is None, others are JSON text."""

    path: str
    before: str | None
    after: str | None


def differences(before: Any, after: Any) -> list[Difference]:
    """Return the innermost values that differ between two JSON values, in their order."""
    found: list[Difference] = []
    todo: list[tuple[str, Any, Any]] = [("", before, after)]
    while todo:
        path, left, right = todo.pop()
        keys: Iterable[str | int] = ()
        if isinstance(left, dict) and isinstance(right, dict):
            keys = dict.fromkeys([*left, *right])
        elif isinstance(left, list) and isinstance(right, list):
            keys = range(max(len(left), len(right)))
        elif left != right or type(left) is not type(right):
            sides = (None if side is _NONE else _dump(side) for side in (left, right))
            found.append(Difference(path, *sides))
        todo += [
            (_below(path, key), _member(left, key), _member(right, key))
            for key in reversed(list(keys))
        ]
    return found


_NONE = object()
"""Stands for a value that one side does not have."""


def _member(value: Any, key: str | int) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError):
        return _NONE


def _below(path: str, key: str | int) -> str:
    """Return the path of a member: `tool_input.paths[3]`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = key if key.isidentifier() else json.dumps(key)
    return f"{path}.{name}" if path else name


def _dump(value: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent)
    except RecursionError:
        return "nested too deeply to be written out"


def wrap_cells(text: str, width: int) -> list[str]:
    """Return text from elsewhere as harmless lines of at most `width` cells."""
    return [
        part
        for line in clean(text).expandtabs(4).split("\n")
        for part in (chop_cells(line, max(2, width)) or [""])
    ]


def parse_json(text: str) -> tuple[Any, bool]:
    """Return a JSON text's value and True, or None and False when it is none (or cut off)."""
    try:
        return json.loads(text), True
    except (ValueError, RecursionError):
        return None, False
