"""Takes a command line of bash apart: a walk over the syntax tree of tree-sitter-bash.

It runs nothing and expands nothing. An error in the tree, a kind of node the walk does not know, or
text the tree passes over makes the line incomplete, which counts as a risk of its own: guessing
would be worse than asking.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.shell.checks import (
    CONTAINERS,
    ORDERS,
    begun_by,
    examined,
    followed_by_redirection,
    is_literal,
)
from amplifier_tui.base.shell.line import (
    LineScope,
    LoopWords,
    Redirection,
    ShellCommand,
    ShellLine,
)
from amplifier_tui.base.shell.words import WORDS, ShellWord, read_word, source

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

MAX_LENGTH: Final = 100_000
"""Characters of a command line that is taken apart; a longer one counts as unreadable."""

# Pipes in one go; the parser's time grows with their square. New lines behind a pipe go on with it.
_MOST_PIPES: Final = 1_000
# The scanner looks these up in a table that ends at U+00FF, and the process with it.
_CRASHES: Final = re.compile(r"\{[0-9]*(?:\.\.[0-9]*)?[^\x00-\xff]")
_LINE_END: Final = re.compile(r"(?<![|\s])[ \t]*\n")

_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=", re.DOTALL | re.ASCII)
_PLAIN: Final = re.compile(r"[\w./+,:@%^-]+")


_Kind = Literal["process", "chain", "loop", "part"]
_KINDS: Final[dict[str, _Kind]] = {
    "subshell": "process",
    "while_statement": "loop",
    "for_statement": "loop",
    "c_style_for_statement": "loop",
}


_NO_WORD: Final = ShellWord("", False, "$")


class _Context(NamedTuple):
    piped: bool = False
    pipeline: int = 0
    nested: bool = False
    scope: int = 0
    chained: bool = False
    """It is what a list of `&&` begins with, and may be such a list itself."""


@dataclass
class _Draft:
    """A command on its way."""

    start: int
    end: int
    context: _Context
    words: list[tuple[int, ShellWord]] = field(default_factory=list)
    assignments: list[str] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)


def read_shell_line(text: str) -> ShellLine:
    """Take a command line apart.

    Args:
        text: Anything; it need not be valid.

    Returns:
        Its simple commands, as far as they could be found.
    """
    pipes = text.count("|")
    if pipes > _MOST_PIPES:
        pipes = max(part.count("|") for part in _LINE_END.split(text))
    if len(text) > MAX_LENGTH or pipes > _MOST_PIPES or _CRASHES.search(text):
        whole = ShellCommand(text, (text[:200],), (False,), (text[:200],))
        return ShellLine((whole,), complete=False, hidden="text that can't be read")
    return _Walk(text).read()


def _parser() -> Parser:
    """Return a parser of its own: several sessions may read at once, each on its thread."""
    # Imported here: the first command line pays for it, not the start of the program.
    import tree_sitter

    return tree_sitter.Parser(_language())


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


class _Walk:
    def __init__(self, text: str) -> None:
        self._data = text.encode("utf-8", "replace")
        self._complete = True
        self._drafts: list[_Draft] = []
        self._hidden: list[tuple[int, str]] = []
        self._stack: list[tuple[Node, _Context]] = []
        self._redirections: dict[int, list[Node]] = {}
        self._pipelines = 0
        self._scopes = [LineScope()]
        self._joined = True
        self._loops: list[LoopWords] = []

    def read(self) -> ShellLine:
        root = _parser().parse(self._data).root_node
        understood, self._hidden, sets = examined(root, self._data)
        self._complete = understood and b"\0" not in self._data
        self._stack.append((root, _Context()))
        while self._stack:
            self._statement(*self._stack.pop())
        self._drafts.sort(key=lambda draft: (draft.start, -draft.end))
        commands = tuple(self._command(draft) for draft in self._drafts)
        hidden = min(self._hidden, default=(0, ""))[1]
        if not self._complete:
            hidden = hidden or "unbalanced quotes or brackets"
        scopes = self._scopes
        if not (self._joined and self._complete):
            scopes = [
                each._replace(kind="part") if each.kind == "chain" else each for each in scopes
            ]
        ordered = all(each in ORDERS for _, each in self._hidden)
        return ShellLine(
            *(commands, self._complete, hidden, ordered),
            *(tuple(scopes), tuple(self._loops), sets),
        )

    # --- statements ------------------------------------------------------------------------

    def _statement(self, node: Node, context: _Context) -> None:
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                self._simple(node, context)
            case "redirected_statement":
                self._redirected(node, context)
            case "variable_assignment":
                draft = self._draft(node, context)
                self._assignment(node, draft)
            case "test_command":
                draft = self._draft(node, context)
                self._test(node, draft)
            case "compound_statement" if node.children[0].type == "((":
                draft = self._draft(node, context)
                draft.words.append((node.start_byte, ShellWord("((", True, "((")))
                self._scan(node, draft.context)
            case "pipeline":
                self._pipeline(node, context)
            case "function_definition":
                body = node.children_by_field_name("body")
                self._push(body, self._scoped(context, "loop"))
                self._redirect_only(node.children_by_field_name("redirect"), context)
            case "file_redirect":
                # Alone in a substitution.
                self._redirect_only([node], context)
            case "command_substitution" | "process_substitution":
                inside = _Context(nested=True, scope=context.scope)
                self._push(node.children, self._scoped(inside, "process", substituted=True))
            case "list":
                self._list(node, context)
            case kind if kind in CONTAINERS or kind == "ERROR" or kind == "variable_assignments":
                if node.parent is not None:
                    context = self._scoped(context, _KINDS.get(kind, "part"))
                if kind == "for_statement":
                    self._loop(node, context)
                self._push(node.children, context)
            case _:
                self._scan(node, context)

    def _push(self, nodes: list[Node], context: _Context) -> None:
        """Go on with the statements among nodes, each `&` ends one in a process of its own."""
        mark = ""
        for child in reversed(nodes):
            if child.is_named and child.type != "comment":
                inside = self._scoped(context, "process") if mark == "&" else context
                self._stack.append((child, inside))
            mark = mark if child.type == "comment" else child.type

    def _scoped(self, context: _Context, kind: _Kind, *, substituted: bool = False) -> _Context:
        """Return a context in a scope of its own."""
        self._scopes.append(LineScope(kind, context.scope, substituted))
        return context._replace(scope=len(self._scopes) - 1, chained=False)

    def _list(self, node: Node, context: _Context) -> None:
        if any(
            child.type not in ("&&", "comment") for child in node.children if not child.is_named
        ):
            self._push(node.children, self._scoped(context, "part"))
            return
        if not context.chained:
            context = self._scoped(context, "chain")
        first, *rest = node.named_children
        self._push(rest, context._replace(chained=False))
        self._stack.append((first, context._replace(chained=True)))

    def _pipeline(self, node: Node, context: _Context) -> None:
        number = context.pipeline
        if not number:
            self._pipelines += 1
            number = self._pipelines
        piped = context.piped
        for child in node.children:
            if child.is_named:
                inside = self._scoped(context, "process")
                self._stack.append((child, inside._replace(piped=piped, pipeline=number)))
            elif child.type in ("|", "|&"):
                piped = True

    def _loop(self, node: Node, context: _Context) -> None:
        name = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        if node.children[0].type != "for" or name is None:
            self._hidden.append((node.start_byte, "the shell's own `select`"))
            return
        words = [read_word(value) if value.type in WORDS else _NO_WORD for value in values]
        given = tuple((word.written, word.known) for word in words)
        self._loops.append(LoopWords(source(name), given, context.scope))

    def _draft(self, node: Node, context: _Context) -> _Draft:
        draft = _Draft(node.start_byte, node.end_byte, context)
        self._drafts.append(draft)
        return draft

    def _simple(self, node: Node, context: _Context) -> _Draft:
        draft = self._draft(node, context)
        if node.type != "command":
            name = node.children[0].type
            draft.words.append((node.start_byte, ShellWord(name, True, name)))
            self._parts(node.children[1:], draft)
        else:
            self._parts(node.children, draft)
        for redirect in self._redirections.pop(node.id, ()):
            self._redirect(redirect, draft)
        return draft

    def _parts(self, nodes: list[Node], draft: _Draft) -> None:
        for child in nodes:
            match child.type:
                case "variable_assignment" if not draft.words:
                    self._assignment(child, draft)
                case "variable_assignment":
                    draft.words.append((child.start_byte, self._assigned(child)))
                    self._scan(child, draft.context)
                case "command_name":
                    self._parts(child.children, draft)
                case "file_redirect" | "heredoc_redirect" | "herestring_redirect":
                    self._redirect(child, draft)
                case "comment":
                    pass
                case _:
                    self._word(child, draft)

    def _word(self, node: Node, draft: _Draft) -> None:
        if source(node).isdecimal() and followed_by_redirection(node, self._data):
            return  # A descriptor; the tree knows them before `>` alone.
        if node.type in WORDS:
            word = read_word(node)
        else:
            text = source(node)
            word = ShellWord(text, not node.is_named, text)
            if node.is_named:
                self._complete = False
                self._stack.append((node, draft.context))
        if source(node).startswith("{"):
            # In quotes it would be a word like others.
            self._hidden.append((node.start_byte, "a word that begins with a brace"))
        draft.words.append((node.start_byte, word))
        self._scan(node, draft.context)

    def _assignment(self, node: Node, draft: _Draft) -> None:
        draft.assignments.append(self._assigned(node).written)
        if not _NAME.match(source(node)):
            self._complete = False
        self._scan(node, draft.context)

    def _assigned(self, node: Node) -> ShellWord:
        """An assignment as a word."""
        value = node.child_by_field_name("value")
        if value is None or value.type not in WORDS:
            return ShellWord(source(node), False, source(node))
        head = self._data[node.start_byte : value.start_byte].decode("utf-8", "replace")
        text, known, written = read_word(value)
        return ShellWord(head + text, known, head + written)

    def _test(self, node: Node, draft: _Draft) -> None:
        """`[ … ]` is a program whose arguments the tree shows as an expression."""
        nodes = [node]
        while nodes:
            part = nodes.pop()
            if part.type in WORDS or not part.children:
                self._word(part, draft)
            else:
                nodes += reversed(part.children)

    def _redirected(self, node: Node, context: _Context) -> None:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        if body is not None and body.type in ("command", "declaration_command", "unset_command"):
            draft = self._simple(body, context)
            draft.start = min(draft.start, node.start_byte)
            for redirect in redirects:
                self._redirect(redirect, draft)
            return
        if body is not None and body.type in ("list", "pipeline"):
            # The tree hangs the redirection of the last command on the whole list.
            last = body
            while last.type in ("list", "pipeline", "negated_command") and last.named_children:
                last = last.named_children[-1]
            if last.type == "command":
                self._redirections[last.id] = redirects
                redirects = []
        if body is not None:
            self._stack.append((body, context))
        self._redirect_only(redirects, context)

    def _redirect_only(self, redirects: list[Node], context: _Context) -> None:
        if redirects:
            draft = self._draft(redirects[0], context)
            draft.end = redirects[0].start_byte
            for redirect in redirects:
                self._redirect(redirect, draft)

    # --- redirections ----------------------------------------------------------------------

    def _redirect(self, node: Node, draft: _Draft) -> None:
        match node.type:
            case "heredoc_redirect":
                self._document(node, draft)
                return
            case "herestring_redirect":
                word = read_word(node.named_children[-1])
                draft.redirections.append(Redirection("<<<", *word))
                self._scan(node, draft.context)
            case _:
                self._file(node, draft)
        draft.end = max(draft.end, node.end_byte)

    def _file(self, node: Node, draft: _Draft) -> None:
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = [child for child in node.named_children if child.type != "file_descriptor"]
        if operator.endswith("-"):
            draft.redirections.append(Redirection(operator[:-1], "-", True, "-"))
        elif targets:
            draft.redirections.append(Redirection(operator, *read_word(targets[0])))
            text = source(targets[0])
            # Quotes in the target of `>&` are read twice; a `-` ends it, and a word may follow.
            if operator == ">&" and not _PLAIN.fullmatch(text):
                self._complete = False
            if operator in (">&", "<&") and text.startswith("-") and text != "-":
                self._complete = False
            self._scan(targets.pop(0), draft.context)
        else:
            self._complete = False
        # The tree takes the words behind a target for more targets; they are arguments.
        for child in targets:
            self._word(child, draft)

    def _document(self, node: Node, draft: _Draft) -> None:
        """A here-document; what stands behind its start on the same line is in its node."""
        place = len(draft.redirections)
        operator, start, body = node.children[0].type, "", ""
        piped = False
        for child in node.children[1:]:
            match child.type:
                case "heredoc_start":
                    start = source(child)
                    draft.end = max(draft.end, child.end_byte)
                case "heredoc_body":
                    body = source(child)
                    if not is_literal(start):
                        self._scan(child, draft.context)
                case "heredoc_end" | "comment":
                    pass
                case "file_redirect" | "herestring_redirect":
                    self._redirect(child, draft)
                case "pipeline":
                    self._pipeline(child, draft.context)
                case "|" | "|&":
                    piped = True
                case kind if kind in WORDS:
                    self._word(child, draft)
                    draft.end = max(draft.end, child.end_byte)
                case _ if child.is_named:
                    # Whatever joins it with what is before.
                    self._joined = False
                    context = draft.context
                    self._stack.append((child, context._replace(piped=piped or context.piped)))
        if operator == "<<-":
            body = "\n".join(line.lstrip("\t") for line in body.split("\n"))
        known = is_literal(start) or not ("$" in body or "`" in body)
        document = Redirection("<<", body.removesuffix("\n"), known, body)
        draft.redirections.insert(place, document)

    def _scan(self, node: Node, context: _Context) -> None:
        """Find the commands that run while words and expressions are expanded."""
        inside = context if context.nested else _Context(nested=True, scope=context.scope)
        nodes = [node]
        while nodes:
            part = nodes.pop()
            if part.type in ("command_substitution", "process_substitution"):
                self._stack.append((part, inside))
            elif part.type != "heredoc_redirect" or part is node:
                nodes += part.children

    # --- the result ------------------------------------------------------------------------

    def _command(self, draft: _Draft) -> ShellCommand:
        words = [word for _, word in sorted(draft.words, key=lambda item: item[0])]
        construct, as_read = begun_by(words)
        self._complete = self._complete and as_read
        if construct:
            self._hidden.append((draft.start, construct))
        return ShellCommand(
            text=self._data[draft.start : draft.end].decode("utf-8", "replace").strip(),
            words=tuple(word.text for word in words),
            known=tuple(word.known for word in words),
            written=tuple(word.written for word in words),
            assignments=tuple(draft.assignments),
            redirections=tuple(draft.redirections),
            piped=draft.context.piped,
            pipeline=draft.context.pipeline,
            nested=draft.context.nested,
            scope=draft.context.scope,
        )
