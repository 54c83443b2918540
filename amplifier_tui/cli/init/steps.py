"""The steps of `init`: what each finds out, asks and writes."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import click

from amplifier_tui.base.text import one_line, with_remedy
from amplifier_tui.cli.layout import paragraph, table

if TYPE_CHECKING:
    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.host.events import LocalServer


class Answerer(NamedTuple):
    """Who may answer the model's requests.

    Attributes:
        name: As `--provider` takes it.
        title: For the list.
        module: Its module's id; empty for none.
        variables: What it needs, known already: name and value.
        asked: The variable that is asked for, unless the environment has it; empty for none.
        source: What sets it already: the environment, or keys.env; empty for nothing.
        bundle: What new sessions open with it.
        models: What a server has, the one of `variables` first; empty for a vendor.
    """

    name: str
    title: str
    module: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    asked: str = ""
    source: Literal["", "the environment", "keys.env"] = ""
    bundle: str = "coding"
    models: tuple[str, ...] = ()


_VENDORS: Final = (
    ("anthropic", "Anthropic", "provider-anthropic", "ANTHROPIC_API_KEY"),
    ("openai", "OpenAI", "provider-openai", "OPENAI_API_KEY"),
)
_ADDRESS: Final = "LOCAL_LLM_BASE_URL"
_MODEL: Final = "LOCAL_LLM_MODEL"
_NAMED: Final = 5
SERVER: Final = Answerer(
    "local", "A model server (asks for its address)", "provider-openai", bundle="local"
)
NOBODY: Final = Answerer("none", "Nobody yet: the demo needs no key", bundle="demo")


def answerers(workspace: "Workspace") -> list[Answerer]:
    """Return who may answer here: with a key first, then local servers, then without."""
    from amplifier_tui.host.models.local_servers import find_local_servers

    ready, wanting = list[Answerer](), list[Answerer]()
    for name, title, module, variable in _VENDORS:
        source = _source(workspace, variable)
        how = f"{variable} is set in {source}" if source else "asks for a key"
        each = Answerer(name, f"{title} ({how})", module, asked=variable, source=source)
        (ready if source else wanting).append(each)
    listed = [server for server in asyncio.run(find_local_servers()) if server.models]
    servers = [_known(workspace, _local(server)) for server in listed]
    return [*ready, *servers, *wanting, *([] if servers else [SERVER]), NOBODY]


def _source(workspace: "Workspace", variable: str) -> Literal["", "the environment", "keys.env"]:
    if not workspace.environ.get(variable):
        return ""
    return "keys.env" if variable in workspace.keys.loaded else "the environment"


def _known(workspace: "Workspace", server: Answerer) -> Answerer:
    """Return a server that was found, with what sets its address where that is set."""
    url = dict(server.variables)[_ADDRESS]
    own = workspace.environ.get(_ADDRESS, "").strip().rstrip("/")
    known = own in (url, url.removeprefix("http://"))
    return server._replace(source=_source(workspace, _ADDRESS) if known else "")


def may_move(workspace: "Workspace", chosen: Answerer) -> bool:
    """Tell whether a server is chosen while keys.env has an address, which can be another one."""
    return chosen.asked == _ADDRESS and _source(workspace, _ADDRESS) == "keys.env"


def own_server(now: Answerer | None = None) -> Answerer | None:
    """Ask for a server's address until one lists its models.

    Args:
        now: What enter takes; None to go on without.
    """
    from amplifier_tui.host.models.local_servers import asked_servers, server_at

    nobody = "No model server answers."
    enter = "goes on without"
    if now is None:
        click.echo("\n".join(paragraph(f"{nobody} {asked_servers()}")))
    else:
        verb = "keeps" if now.source else "takes"
        enter = f"{verb} {one_line(dict(now.variables)[_ADDRESS], 200)}"
    while True:
        url: str = click.prompt(
            f"Its address (enter {enter})", default="", show_default=False
        ).strip()
        if not url:
            return now
        server = asyncio.run(server_at(url))
        if server is not None:
            return _local(server)
        click.echo("\n".join(paragraph(f"{nobody} {asked_servers(url)}")), err=True)


def _local(server: "LocalServer") -> Answerer:
    # A server may list anything, and what is listed here is typed or chosen as it stands.
    models = tuple(each for each in server.models if one_line(each) == each) or server.models[:1]
    variables = ((_ADDRESS, server.url), (_MODEL, models[0]))
    more = f" and {len(models) - 1} more" if len(models) > 1 else ""
    title = one_line(f"{server.title} ({models[0]}{more})")
    known = (variables, _ADDRESS)
    return Answerer("local", title, "provider-openai", *known, bundle="local", models=models)


def with_model(chosen: Answerer, *, asks: bool) -> Answerer:
    """Return who was chosen with one of the models it has; where nobody is asked, name the first.

    Args:
        asks: Somebody can be asked for it.
    """
    if len(chosen.models) < 2:
        return chosen
    model, *others = chosen.models
    if asks:
        model = pick("Which model answers", [(each, "") for each in chosen.models], model)
        return chosen._replace(variables=(*chosen.variables[:1], (_MODEL, model)))
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    there = f"it also has {', '.join(others[:_NAMED])}{more}"
    click.echo("\n".join(paragraph(f"Model {model}; {there}. {_MODEL} names another.")))
    return chosen


def set_up(workspace: "Workspace", chosen: Answerer, key: str, *, call: bool) -> str:
    """Try what a provider needs with one small request, and keep what is new and works.

    Args:
        key: For `chosen.asked`; empty where nothing is asked, or what is set stays.
        call: Send the request.

    Returns:
        What was done, in words.

    Raises:
        click.ClickException: It did not answer, or can't be kept; nothing was.
    """
    from amplifier_tui.host.models.setup import trial

    variables = dict(chosen.variables) | ({chosen.asked: key} if key else {})
    try:
        with trial(variables) as attempt:
            problem = _problem(workspace, chosen) if call else ""
            attempt.works = not problem
        if problem:
            done = "kept" if is_new(chosen, key) else "changed"
            raise click.ClickException(with_remedy(problem, f"Nothing was {done}."))
        answers = "It answers. " if call else ""
        return f"{answers}{attempt.keep() if variables else ''}".strip()
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(_unwritten(error)) from error


def is_new(chosen: Answerer, key: str) -> bool:
    """Tell whether anything is chosen that is not set already."""
    return bool(key) or not chosen.source


def _problem(workspace: "Workspace", chosen: Answerer) -> str:
    """Return why a provider does not answer; empty where it does."""
    from amplifier_tui.cli.doctor.providers import call_providers
    from amplifier_tui.foundation.exceptions import BundleError
    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.paths import shipped_bundles_dir

    try:
        fresh = Workspace.open(workspace.project, shipped=(shipped_bundles_dir(),))
        name = chosen.module.removeprefix("provider-")
        found = asyncio.run(call_providers(fresh, chosen.bundle, name))
    except (BundleError, RuntimeError) as error:
        return one_line(f"{chosen.title} can't be tried: {error}", 400)
    if not found:
        return f"{chosen.title} is not ready"
    return next((f"It {each.said}" for each in found if each.state != "ok"), "")


def keep_setting(workspace: "Workspace", name: str, value: str) -> Path:
    """Write one of the user's own settings.

    Raises:
        click.ClickException: It can't be written.
    """
    from amplifier_tui.foundation.settings.settings import Scope, SettingsFileError
    from amplifier_tui.foundation.settings.writing import write_setting

    try:
        return write_setting(workspace.settings.files, Scope.GLOBAL, name, value)
    except SettingsFileError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(_unwritten(error)) from error


def _unwritten(error: OSError) -> str:
    place = f"{one_line(str(error.filename), 300)}: " if error.filename else ""
    return f"{place}{error.strerror or error}. Nothing was kept."


def themes() -> dict[str, str]:
    """Return the themes there are, each with its description; the first fits the terminal."""
    from amplifier_tui.ui.app.themes import AUTO, FITTING, ThemeError, load_roles, theme_dirs

    found = {AUTO: FITTING["description"]}
    for folder in theme_dirs():
        for path in sorted(folder.glob("*.yaml")):
            try:
                found[path.stem] = str(load_roles(path)["description"])
            except ThemeError:
                # The program says what is wrong with it where themes are chosen.
                continue
    return found


def keep_theme(name: str) -> None:
    """Have the screen use a theme."""
    from amplifier_tui.ui.app.preferences import Preferences
    from amplifier_tui.ui.app.themes import AUTO, load_roles, plain_roles, theme_dirs

    if name == AUTO:
        Preferences().set_theme("", None)
        return
    path = next(
        folder / f"{name}.yaml"
        for folder in reversed(theme_dirs())
        if (folder / f"{name}.yaml").is_file()
    )
    Preferences().set_theme(name, plain_roles(load_roles(path)))


def bundle_now(workspace: "Workspace", chosen: Answerer, *, asks: bool) -> str:
    """Return what new sessions open with, unless it is of another provider than the chosen one.

    Args:
        asks: Somebody is asked about it: who is not, and has named no provider, gets one later.
    """
    active = _own(workspace, "bundle.active")
    if chosen is NOBODY:
        return active or (chosen.bundle if asks else "coding")
    return chosen.bundle if active in ("", "coding", "local", "demo") else active


def answerer_now(workspace: "Workspace", names: Sequence[str]) -> str:
    """Return who answers what new sessions open with, where that tells; else the first."""
    own = SERVER.name
    is_set = _own(workspace, "bundle.active") == SERVER.bundle and own in names
    return own if is_set else names[0]


def who_goes_first(workspace: "Workspace", chosen: Answerer) -> str:
    """Return a sentence about a vendor that answers in place of the chosen one; empty for none."""
    for name, title, _, variable in _VENDORS:
        if name == chosen.name:
            break
        if (source := _source(workspace, variable)) and chosen.asked:
            return (
                f"{title} answers first where a bundle has both, as {variable} is set in {source}: "
                f"/model changes to {chosen.name} in a session."
            )
    return ""


def mode_now(workspace: "Workspace") -> str:
    """Return the mode that sessions begin with."""
    return _own(workspace, "mode") or "ask"


def _own(workspace: "Workspace", path: str) -> str:
    """Return what the user's own settings say, which is what is written here."""
    from amplifier_tui.foundation.dicts import get_nested
    from amplifier_tui.foundation.settings.settings import Scope

    value = get_nested(workspace.settings.by_scope.get(Scope.GLOBAL, {}), path)
    return value if isinstance(value, str) else ""


def theme_now(known: Mapping[str, str]) -> str:
    """Return the theme that the screen uses."""
    from amplifier_tui.ui.app.preferences import Preferences
    from amplifier_tui.ui.app.themes import AUTO

    theme = Preferences().theme
    return theme if theme in known else AUTO


def bundles_to_choose(workspace: "Workspace") -> list[tuple[str, str]]:
    """Return the names of bundles that can be opened, each with its description."""
    found = asyncio.run(workspace.previews())
    return [(each.name, one_line(each.description or each.origin, 200)) for each in found]


def pick(title: str, rows: Sequence[tuple[str, str]], default: str) -> str:
    """Ask for one of some rows by number or name; enter takes the default.

    Args:
        default: What is set now; a row more where it is none of them.
    """
    if default not in dict(rows):
        rows = [*rows, (default, "as it is set now")]
    click.echo(f"\n{title}")
    numbered = enumerate(rows, start=1)
    cells = [("*" * (row[0] == default), str(number), *row) for number, row in numbered]
    for line in table(cells, indent=1):
        click.echo(line)
    known = {str(number): name for number, (name, _) in enumerate(rows, start=1)}
    known |= {name: name for name, _ in rows}
    choice = click.Choice(list(known))
    return known[click.prompt("Number", default=default, type=choice, show_choices=False)]


def own_key(variable: str, *, is_set: bool) -> str:
    """Ask for a key that is not shown while it is typed.

    Args:
        is_set: There is one, which is used where none is typed.

    Returns:
        The key; empty to keep the one that is set, or to go on without.
    """
    enter = "keeps the old one" if is_set else "goes on without"
    text: str = click.prompt(
        f"{variable} (not shown; enter {enter})",
        hide_input=True,
        default="",
        show_default=False,
    )
    return text.strip()
