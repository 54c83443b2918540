"""Takes a POSIX or bash command line apart, for a person to judge its parts.

It runs nothing and expands nothing. Whatever it cannot follow makes the script incomplete, which
counts as a risk of its own: guessing would be worse than asking.
"""

from amplifier_tui.host.approvals.shell.model import Command, Redirect, Script
from amplifier_tui.host.approvals.shell.words import Word, WordReader

MAX_NESTING = 30
MAX_LENGTH = 100_000
"""Characters of a command line that is taken apart; a longer one counts as unreadable."""

# Followed by a command, so they are passed over where a command begins.
_LEADING = frozenset(
    {"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc"}
)
# Headers up to the next separator: `for x in a b`, `case $x in`.
_HEADERS = frozenset({"for", "select", "case", "function"})
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_REDIRECTS = ("&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<<", "<&", "<>", ">", "<")


def split_commands(text: str) -> Script:
    """Take a command line apart.

    Args:
        text: Anything; it need not be valid.

    Returns:
        Its simple commands. A text that cannot be followed comes as one command of one word, in a
        script that is not complete.
    """
    if len(text) > MAX_LENGTH:
        return Script((Command(text=text, words=(text[:200],), known=(False,)),), complete=False)
    found: list[tuple[int, Command]] = []
    reader = _Reader(text, found)
    reader.read_list(0, "")
    reader.finish()
    if reader.pos < len(text):
        # A closing bracket nobody opened ended the list early.
        reader.complete = False
        rest = text[reader.pos :].strip()
        if rest.strip(")"):
            found.append((reader.pos, Command(text=rest, words=(rest[:200],), known=(False,))))
    ordered = sorted(found, key=lambda item: item[0])
    return Script(tuple(command for _, command in ordered), reader.complete)


class _Draft:
    """A simple command on its way."""

    def __init__(self, start: int, piped: bool) -> None:
        self.start = start
        self.end = start
        self.piped = piped
        self.words: list[Word] = []
        self.assignments: list[str] = []
        self.redirects: list[Redirect] = []
        self.header = False
        self.closed = False

    @property
    def begun(self) -> bool:
        return bool(self.words or self.assignments or self.redirects)


class _Heredoc:
    """A here-document whose body begins at the next line."""

    def __init__(self, delimiter: str, tabs: bool, literal: bool, draft: _Draft) -> None:
        self.delimiter = delimiter
        self.tabs = tabs
        self.literal = literal
        self.draft = draft
        self.place = len(draft.redirects)
        draft.redirects.append(Redirect("<<", ""))


class _Reader(WordReader):
    """Reads `text` from `pos` on; commands are added to `found` with their place."""

    def __init__(self, text: str, found: list[tuple[int, Command]], offset: int = 0) -> None:
        super().__init__(text)
        self.found = found
        self._offset = offset
        self._cases = 0
        self._heredocs: list[_Heredoc] = []
        # Commands are made once their here-documents have been read.
        self._waiting: list[tuple[_Draft, bool]] = []

    # --- lists of commands -----------------------------------------------------------------

    def read_list(self, depth: int, until: str, nested: bool = False) -> None:
        """Read commands up to the closing `until` (`)` or nothing), which is left unread."""
        if depth > MAX_NESTING:
            self.complete = False
            self.pos = len(self.text)
            return
        draft = _Draft(self.pos, piped=False)
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char == ")" and self._cases and not draft.header:
                # The end of a pattern in `case`: what was read was no command.
                self.pos += 1
                draft = _Draft(self.pos, piped=False)
                continue
            if char == ")":
                if until != ")":
                    self.complete = False
                break
            if char in " \t\r":
                self.pos += 1
            elif char == "\\" and self.text.startswith("\\\n", self.pos):
                self.pos += 2
            elif char == "#":
                self._skip_comment()
            elif char in "\n;" or (char in "&|" and not self._at_redirect()):
                self._end(draft, nested)
                draft = _Draft(self.pos, piped=self._separator())
                draft.start = self.pos
            else:
                if char == "(":
                    self._bracket(draft, depth, nested)
                elif self._at_redirect():
                    self._redirect(draft, depth)
                else:
                    self._take_word(draft, depth)
                draft.end = self.pos
        self._end(draft, nested)
        if until and self.pos >= len(self.text):
            self.complete = False
        if self.pos >= len(self.text):
            self._read_heredocs(depth)

    def _separator(self) -> bool:
        """Pass over an operator; True when it is a pipe."""
        for operator in ("&&", "||", ";;&", ";;", ";&", "|&", ";", "|", "&", "\n"):
            if self.text.startswith(operator, self.pos):
                self.pos += len(operator)
                if operator == "\n":
                    self._read_heredocs(0)
                return operator in ("|", "|&")
        raise AssertionError("not at an operator")

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end

    def _bracket(self, draft: _Draft, depth: int, nested: bool) -> None:
        """A subshell, the `()` of a function, or the value of an array."""
        self.pos += 1
        if self.text.startswith("(", self.pos) and not draft.words:
            # `((…))` is arithmetic; what it substitutes is still run.
            self.pos += 1
            self.read_list(depth + 1, ")", nested=True)
            self.close(")")
        else:
            inside = self.pos
            self.read_list(depth + 1, ")", nested=nested or bool(draft.words))
            if self.text[inside : self.pos].strip() == "" and len(draft.words) == 1:
                # A function's name is no command.
                draft.words.clear()
                self.close(")")
                draft.start = self.pos
                return
        self.close(")")
        if not draft.begun:
            draft.closed = True
            draft.start = self.pos

    def _take_word(self, draft: _Draft, depth: int) -> None:
        start = self.pos
        word = self.read_word(depth)
        text = word.text
        if not draft.begun and not word.quoted and word.known:
            if text in _LEADING:
                draft.start = self.pos
                return
            if text in _CLOSING:
                self._cases -= text == "esac" and self._cases > 0
                draft.closed = True
                draft.start = self.pos
                return
            if text in _HEADERS:
                draft.header = True
                self._cases += text == "case"
        words = draft.words
        if draft.header and text == "in" and len(words) == 2 and words[0].text == "case":
            # The patterns follow.
            self._restart(draft)
            return
        if not draft.begun:
            draft.start = start
        if not draft.words and _is_assignment(text):
            draft.assignments.append(text)
        else:
            draft.words.append(word)

    def _restart(self, draft: _Draft) -> None:
        draft.words.clear()
        draft.header = False
        draft.start = self.pos

    def _end(self, draft: _Draft, nested: bool) -> None:
        if draft.begun and not draft.header:
            self._waiting.append((draft, nested))

    def finish(self) -> None:
        """Add the commands that were read to `found`."""
        for draft, nested in self._waiting:
            text = self.text[draft.start : draft.end].strip()
            self.found.append(
                (
                    self._offset + draft.start,
                    Command(
                        text=text,
                        words=tuple(word.text for word in draft.words),
                        known=tuple(word.known for word in draft.words),
                        assignments=tuple(draft.assignments),
                        redirects=tuple(draft.redirects),
                        piped=draft.piped,
                        nested=nested,
                    ),
                )
            )
        self._waiting.clear()

    # --- redirections ----------------------------------------------------------------------

    def _at_redirect(self) -> bool:
        char = self.text[self.pos]
        if char in "<>":
            return True
        return self.text.startswith(("&>", "&>>"), self.pos)

    def _redirect(self, draft: _Draft, depth: int) -> None:
        if not draft.begun:
            draft.start = self.pos
        if self.text.startswith(("<(", ">("), self.pos):
            self.pos += 2
            self.read_list(depth + 1, ")", nested=True)
            self.close(")")
            word = Word()
            word.known = False
            draft.words.append(word)
            return
        operator = next(o for o in _REDIRECTS if self.text.startswith(o, self.pos))
        self.pos += len(operator)
        # A number right before belongs to the redirection: `2> file`.
        if draft.words and self._glued_number(draft, operator):
            draft.words.pop()
        self._skip_blanks()
        word = self.read_word(depth)
        if operator in ("<<", "<<-"):
            if not word.text and not word.quoted:
                self.complete = False
                return
            self._heredocs.append(_Heredoc(word.text, operator == "<<-", word.quoted, draft))
            return
        if not word.text and word.known and not word.quoted:
            self.complete = False
        draft.redirects.append(Redirect(operator, word.text, word.known))

    def _glued_number(self, draft: _Draft, operator: str) -> bool:
        before = self.text[: self.pos - len(operator)]
        last = draft.words[-1]
        return last.text.isdigit() and not last.quoted and before.endswith(last.text)

    def _skip_blanks(self) -> None:
        while self.pos < len(self.text):
            if self.text[self.pos] in " \t":
                self.pos += 1
            elif self.text.startswith("\\\n", self.pos):
                self.pos += 2
            else:
                return

    def _read_heredocs(self, depth: int) -> None:
        pending, self._heredocs = self._heredocs, []
        for document in pending:
            lines: list[str] = []
            ended = False
            body_start = self.pos
            while self.pos < len(self.text):
                end = self.text.find("\n", self.pos)
                end = len(self.text) if end < 0 else end
                line = self.text[self.pos : end]
                self.pos = min(end + 1, len(self.text))
                if (line.lstrip("\t") if document.tabs else line) == document.delimiter:
                    ended = True
                    break
                lines.append(line)
            self.complete = self.complete and ended
            body = "\n".join(lines)
            known = document.literal or not ("$" in body or "`" in body)
            document.draft.redirects[document.place] = Redirect("<<", body, known)
            if not document.literal:
                self.read_substitutions(body, body_start, depth)

    def read_piece(self, text: str, start: int, depth: int) -> None:
        """Read a piece of its own as a list of nested commands."""
        reader = _Reader(text, self.found, self._offset + start)
        reader.read_list(depth + 1, "", nested=True)
        reader.finish()
        self.complete = self.complete and reader.complete and reader.pos >= len(text)

    def read_substitutions(self, text: str, start: int, depth: int) -> None:
        """Read the `$(…)` and backquotes in a text that is otherwise data."""
        if depth > MAX_NESTING:
            self.complete = False
            return
        reader = _Reader(text, self.found, self._offset + start)
        word = Word()
        while reader.pos < len(text):
            char = text[reader.pos]
            if char == "\\":
                reader.pos += 2
            elif char == "$":
                reader.read_dollar(word, depth + 1, quoted=True)
            elif char == "`":
                reader.read_backquote(word, depth + 1)
            else:
                reader.pos += 1
        reader.finish()
        self.complete = self.complete and reader.complete


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    name = name.removesuffix("+")
    return (
        bool(equals)
        and (name[:1].isalpha() or name[:1] == "_")
        and name.replace("_", "a").isalnum()
    )
