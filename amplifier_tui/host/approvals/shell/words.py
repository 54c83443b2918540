"""Words of a command line: quotes taken off, what is substituted found."""

from abc import ABC, abstractmethod

_META = frozenset(" \t\r\n;&|()<>")


class Word:
    """A word on its way: its text without quotes, and whether that is all of it."""

    __slots__ = ("known", "parts", "quoted")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.known = True
        self.quoted = False

    @property
    def text(self) -> str:
        """The word without its quotes."""
        return "".join(self.parts)


class WordReader(ABC):
    """Reads words of `text` from `pos` on; `complete` turns False where it cannot follow."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.complete = True

    @abstractmethod
    def read_list(self, depth: int, until: str, nested: bool = False) -> None:
        """Read commands up to the closing `until`, which is left unread."""

    @abstractmethod
    def read_piece(self, text: str, start: int, depth: int) -> None:
        """Read the commands of a piece of its own, which begins at `start` of `text`."""

    @abstractmethod
    def read_substitutions(self, text: str, start: int, depth: int) -> None:
        """Read the substitutions in a text that is otherwise data."""

    def close(self, bracket: str) -> None:
        """Pass over a closing bracket that has to be here."""
        if self.text.startswith(bracket, self.pos):
            self.pos += 1
        else:
            self.complete = False

    def read_word(self, depth: int) -> Word:
        """Read up to the next blank or operator; empty when one is here."""
        word = Word()
        text = self.text
        while self.pos < len(text):
            char = text[self.pos]
            if char in _META:
                break
            if char == "'":
                self._single(word)
            elif char == '"':
                self._double(word, depth)
            elif char == "\\":
                self._escape(word)
            elif char == "$":
                self.read_dollar(word, depth)
            elif char == "`":
                self.read_backquote(word, depth)
            else:
                if char in "*?[" or (char == "~" and not word.parts):
                    # Which files it means shows only when it runs.
                    word.known = word.known and char == "~"
                word.parts.append(char)
                self.pos += 1
        return word

    def _single(self, word: Word) -> None:
        word.quoted = True
        end = self.text.find("'", self.pos + 1)
        if end < 0:
            self.complete = False
            end = len(self.text)
        word.parts.append(self.text[self.pos + 1 : end])
        self.pos = min(end + 1, len(self.text))

    def _double(self, word: Word, depth: int) -> None:
        word.quoted = True
        self.pos += 1
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char == '"':
                self.pos += 1
                return
            if char == "\\" and self.pos + 1 < len(self.text):
                following = self.text[self.pos + 1]
                if following not in '$`"\\\n':
                    word.parts.append(char)
                if following != "\n":
                    word.parts.append(following)
                self.pos += 2
            elif char == "$":
                self.read_dollar(word, depth, quoted=True)
            elif char == "`":
                self.read_backquote(word, depth)
            else:
                word.parts.append(char)
                self.pos += 1
        self.complete = False

    def _escape(self, word: Word) -> None:
        following = self.text[self.pos + 1 : self.pos + 2]
        if following == "\n":
            self.pos += 2
            return
        if not following:
            self.complete = False
        word.quoted = True
        word.parts.append(following)
        self.pos += 1 + len(following)

    def read_dollar(self, word: Word, depth: int, quoted: bool = False) -> None:
        """Read what begins with `$`; `quoted` inside of double quotes."""
        following = self.text[self.pos + 1 : self.pos + 2]
        if following == "'" and not quoted:
            self._ansi(word)
        elif following == '"' and not quoted:
            self.pos += 1
        elif following == "(":
            word.known = False
            self.pos += 2
            if self.text.startswith("(", self.pos):
                self.pos += 1
                self.read_list(depth + 1, ")", nested=True)
                self.close(")")
            else:
                self.read_list(depth + 1, ")", nested=True)
            self.close(")")
        elif following == "{":
            word.known = False
            self._braces(depth)
        elif following and (following.isalnum() or following in "_@*#?$!-"):
            word.known = False
            self.pos += 2
            while self.pos < len(self.text) and (
                self.text[self.pos].isalnum() or self.text[self.pos] == "_"
            ):
                self.pos += 1
        else:
            word.parts.append("$")
            self.pos += 1

    def _ansi(self, word: Word) -> None:
        r"""`$'…'`: escapes may spell anything, so its text counts as unknown if it has any."""
        word.quoted = True
        self.pos += 2
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char == "'":
                self.pos += 1
                return
            if char == "\\":
                word.known = False
                self.pos += 1
                char = self.text[self.pos : self.pos + 1]
            word.parts.append(char)
            self.pos += 1
        self.complete = False

    def _braces(self, depth: int) -> None:
        start = self.pos
        self.pos += 2
        level = 1
        while self.pos < len(self.text) and level:
            char = self.text[self.pos]
            if char == "\\":
                self.pos += 1
            elif char == "'":
                end = self.text.find("'", self.pos + 1)
                self.pos = end if end >= 0 else len(self.text)
            elif char == "{":
                level += 1
            elif char == "}":
                level -= 1
            self.pos += 1
        self.pos = min(self.pos, len(self.text))
        if level:
            self.complete = False
        self.read_substitutions(self.text[start + 2 : self.pos], start + 2, depth)

    def read_backquote(self, word: Word, depth: int) -> None:
        """Read a command in backquotes."""
        word.known = False
        start = self.pos + 1
        self.pos = start
        inner: list[str] = []
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char == "`":
                self.pos += 1
                self.read_piece("".join(inner), start, depth)
                return
            if char == "\\" and self.text[self.pos + 1 : self.pos + 2] in ("`", "\\", "$"):
                self.pos += 1
                char = self.text[self.pos]
            inner.append(char)
            self.pos += 1
        self.complete = False
        self.read_piece("".join(inner), start, depth)
