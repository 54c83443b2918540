"""Changing one value in a YAML text and nothing else of it."""

from typing import Any

import yaml

from amplifier_tui.foundation.io.yaml import dump_yaml, load_yaml


def edited(text: str, keys: list[str], value: Any, wanted: dict[str, Any]) -> str | None:
    """Return a YAML text in which one value is set.

    A scalar is replaced where it stands; a missing key is put before the first key of the
    mapping it belongs to.

    Args:
        text: The document.
        keys: Path to the value.
        value: What to put there; None for a removal, which is left to the caller.
        wanted: What the result has to mean.

    Returns:
        The new text; None when this cannot be done by a small change, and the caller has to write
        the document anew.
    """
    if value is None:
        return None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        result = _edit(text, node, keys, value)
        return result if result is not None and load_yaml(result) == wanted else None
    except yaml.YAMLError:
        return None


def _edit(text: str, node: Any, keys: list[str], value: Any) -> str | None:
    depth = 0
    while isinstance(node, yaml.MappingNode):
        found = next((pair[1] for pair in node.value if pair[0].value == keys[depth]), None)
        if found is None:
            return _insert(text, node, keys[depth:], value)
        depth += 1
        if depth == len(keys):
            return _replace(text, found, value)
        node = found
    return None if node is not None else text + _lines(keys, value, "")


def _replace(text: str, node: Any, value: Any) -> str | None:
    if not isinstance(node, yaml.ScalarNode) or isinstance(value, dict | list):
        return None
    start, end = node.start_mark.index, node.end_mark.index
    return text[:start] + _scalar(value) + text[end:] if end > start else None


def _insert(text: str, node: Any, keys: list[str], value: Any) -> str | None:
    if node.flow_style or not node.value:
        return None
    mark = node.value[0][0].start_mark
    start = mark.index - mark.column
    indent = text[start : mark.index]
    if indent.strip():
        return None
    return text[:start] + _lines(keys, value, indent) + text[start:]


def _lines(keys: list[str], value: Any, indent: str) -> str:
    for key in reversed(keys):
        value = {key: value}
    return "".join(f"{indent}{line}\n" for line in dump_yaml(value).splitlines())


def _scalar(value: Any) -> str:
    return dump_yaml({"v": value}).removeprefix("v:").strip()
