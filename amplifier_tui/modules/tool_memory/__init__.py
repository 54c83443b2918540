"""tool-memory: lets the model remember, forget, search and list notes across sessions.

It uses the memories of context-pipeline where that is mounted, and else a database of its own.
What is remembered holds in this project, unless the model says it holds everywhere.

Config:
    path: The database, where context-pipeline offers none. Default ``memory.sqlite3`` in the
        Amplifier home.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from amplifier_tui.base.config import ModuleSettings, PathText
from amplifier_tui.context.errors import MemoryUnavailableError
from amplifier_tui.context.memory.database import memory_path
from amplifier_tui.context.memory.retrieval import Memory
from amplifier_tui.context.memory.store import MemoryStore
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument

__amplifier_module_type__ = "tool"

_FOUND: Final = 10
_LISTED: Final = 50
_ACTIONS: Final = ("remember", "forget", "search", "list")


class MemoryTool(ModuleTool):
    """Keeps notes for later sessions.

    Args:
        store: Returns the memories.
        session_id: The session notes are from.
        project: Returns the project's folder; "" where there is none.
    """

    name = "memory"
    description = (
        "Notes that stay when the session ends. Remember what the user asks you to, and lasting "
        "facts about the project or their preferences; not what files already say, and no "
        "secrets. Notes that fit come back by themselves at the beginning of a turn, each with "
        "its number."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "action": {"type": "string", "enum": list(_ACTIONS)},
        "text": argument("string", "What to remember, in one or two sentences."),
        "everywhere": argument(
            "boolean", "Whether it holds in every project. Default: this one only."
        ),
        "id": argument("integer", "Number of the note to forget."),
        "query": argument("string", "What to search for."),
    }
    required = ("action",)

    def __init__(
        self, store: Callable[[], MemoryStore], *, session_id: str, project: Callable[[], str]
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._project = project

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Carry out an action; what the store has to tell comes before its answer."""
        store = self._store()
        try:
            said = await self._carry_out(store, given)
        except MemoryUnavailableError as error:
            raise ToolProblem(str(error), "unavailable") from error
        except ValueError as error:
            raise ToolProblem(str(error), "invalid_input") from error
        finally:
            notices = store.take_notices()
        return ToolResult(output="\n".join([*notices, said]))

    async def _carry_out(self, store: MemoryStore, given: Mapping[str, Any]) -> str:
        match given.get("action"):
            case "remember":
                text = _text(given, "text")
                scope = "" if given.get("everywhere") is True else self._project()
                note = await store.remember(text, scope=scope, session_id=self._session_id)
                where = "this project" if note.scope else "every project"
                return f"Remembered as note {note.memory_id}, for {where}."
            case "forget":
                number = given.get("id")
                if isinstance(number, bool) or not isinstance(number, int):
                    raise ValueError("`id` must be the number of a note")
                if not await store.forget(number, scopes=self._scopes()):
                    raise ToolProblem(f"There is no note {number}.", "not_found")
                return f"Forgot note {number}."
            case "search":
                query = _text(given, "query")
                found = await store.search(query, _FOUND, scopes=self._scopes())
                return _shown(found) or "No note fits."
            case "list":
                notes = await store.list(scopes=self._scopes(), limit=_LISTED)
                return _shown(notes) or "There are no notes yet."
            case other:
                raise ValueError(f"`action` must be one of {', '.join(_ACTIONS)}, not {other!r}")

    def _scopes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("", self._project())))


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"`{name}` must be a text")
    return value


def _shown(notes: Sequence[Memory]) -> str:
    return "\n".join(
        f"[{note.memory_id}] {note.text}{'' if note.scope else ' (everywhere)'}" for note in notes
    )


class MemorySettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-memory"

    path: PathText | None = None


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the tool as ``memory``; returns the cleanup."""
    own = MemoryStore(memory_path(MemorySettings.read(config).path))

    def store() -> MemoryStore:
        shared = coordinator.get_capability("context.memory")
        return shared if isinstance(shared, MemoryStore) else own

    tool = MemoryTool(
        store,
        session_id=coordinator.session_id,
        project=lambda: str(coordinator.get_capability("session.working_dir") or ""),
    )
    await coordinator.mount("tools", tool, name=tool.name)
    return own.close
