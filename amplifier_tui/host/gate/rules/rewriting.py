"""Other rules in a file of rules, with its comments and its layout left as they are."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

_MOST_STEPS: Final = 20
_DEEPEST: Final = 8


def rewritten(text: str, wanted: Mapping[str, Any]) -> str:
    """Return a file's text with other lists of rules in it.

    Each rule that is new or gone changes its own line. Where the layout does not allow that, or
    there are many, the file is laid out anew, without its comments.

    Args:
        text: YAML, a mapping or nothing.
        wanted: All that the file is to hold, as plain data.
    """
    changed = text
    for _ in range(_MOST_STEPS):
        try:
            root = yaml.compose(changed, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, ValueError):
            break  # A change did not fit into this layout.
        if _filled(as_data(root)) == _filled(wanted):
            return changed
        before, changed = changed, _step(changed, root, wanted)
        if before == changed:
            break
    return yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True, default_flow_style=False)


def as_data(node: Any, depth: int = 0) -> Any:
    """Return what a node of YAML holds, every scalar as the text it is written as.

    Raises:
        ValueError: It is nested more deeply than rules are.
    """
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): as_data(value, depth + 1) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [as_data(item, depth + 1) for item in node.value]
    return None if node is None or node.tag == "tag:yaml.org,2002:null" else node.value


def _filled(value: Any) -> Any:
    """Return data without what is empty."""
    if isinstance(value, Mapping):
        found = {key: _filled(item) for key, item in value.items()}
        return {key: item for key, item in found.items() if item not in (None, {}, [])}
    return value


def _step(text: str, root: Any, wanted: Mapping[str, Any]) -> str:
    """Return the text with one rule more, or less."""
    for path, rules in _lists(wanted):
        node = _find(root, path)
        items = node.value if isinstance(node, yaml.SequenceNode) else []
        for at, item in enumerate(items):
            if item.value not in rules:
                return _without(text, node, at)
        for rule in rules:
            if rule not in [item.value for item in items]:
                return _with(text, root, path, rule)
    return text


def _lists(wanted: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield the lists of rules, each with the keys that lead to it."""
    for key, value in wanted.items():
        if isinstance(value, Mapping):
            yield from _lists(value, (*path, key))
        elif isinstance(value, list):
            yield (*path, key), value


def _find(node: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        node = next((value for key, value in pairs if key.value == name), None)
    return node


def _without(text: str, node: Any, at: int) -> str:
    items = node.value
    item = items[at]
    if not node.flow_style:
        lines = text.splitlines(keepends=True)
        del lines[item.start_mark.line : item.end_mark.line + 1]
        return "".join(lines)
    start, end = item.start_mark.index, item.end_mark.index
    if at + 1 < len(items):
        end = items[at + 1].start_mark.index
    elif at:
        start = items[at - 1].end_mark.index
    return text[:start] + text[end:]


def _with(text: str, root: Any, path: tuple[str, ...], rule: str) -> str:
    quoted = json.dumps(rule, ensure_ascii=False)
    node = _find(root, path)
    if isinstance(node, yaml.SequenceNode) and node.flow_style:
        end = node.end_mark.index - 1
        return f"{text[:end]}{', ' if node.value else ''}{quoted}{text[end:]}"
    if isinstance(node, yaml.SequenceNode):
        line = " " * node.start_mark.column + f"- {quoted}\n"
        return _after(text, node.value[-1].end_mark.line, line)
    # What is missing goes below the last key on the way that is there.
    depth, parent = 0, root
    while _is_open(parent) and (key := _key(parent, path[depth : depth + 1])) is not None:
        value = _find(parent, path[depth : depth + 1])
        depth += 1
        if not _is_open(value):
            return _after(text, key.end_mark.line, _lines(path[depth:], key, quoted))
        parent = value
    if not _is_open(parent):
        return _after(text, -1, _lines(path, None, quoted))
    return _after(text, _last_line(parent), _lines(path[depth:], parent, quoted, below=0))


def _lines(path: tuple[str, ...], at: Any, quoted: str, below: int = 2) -> str:
    """Return keys and a rule, from the column of a node on, or so much further right."""
    indent = at.start_mark.column + below if at is not None else 0
    lines = ""
    for key in path:
        name = key if key.isalnum() else json.dumps(key, ensure_ascii=False)
        lines += " " * indent + f"{name}:\n"
        indent += 2
    return lines + " " * indent + f"- {quoted}\n"


def _key(node: Any, names: tuple[str, ...]) -> Any:
    return next((key for key, _ in node.value if key.value in names), None)


def _is_open(node: Any) -> bool:
    """Whether it is a mapping with a key on each line."""
    return isinstance(node, yaml.MappingNode) and not node.flow_style


def _last_line(node: Any) -> int:
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    return int(node.end_mark.line)


def _after(text: str, line: int, more: str) -> str:
    """Return the text with lines behind one of it; -1 for behind all."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    at = len(lines) if line < 0 else line + 1
    return "".join([*lines[:at], more, *lines[at:]])
