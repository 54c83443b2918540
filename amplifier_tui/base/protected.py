"""What configures or starts programs, and where secrets are kept: the one table of such names.

Spellings that some file system takes for the same name count as the same.
"""

import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase, translate
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.programs import is_own_code, shadows
from amplifier_tui.base.lazy.pattern import lazy_pattern

_SECRETS: Final = "keys and passwords"

_CONFIGURES: Final[dict[str, str]] = {
    "this program": ".amplifier .mcp.json",
    "other agents": (
        ".agents .claude .claude.json .codex .cursor .cursorrules .windsurf .windsurfrules .gemini"
        " .continue .roo .roomodes .roorules* .cline* .opencode .opencode.json opencode.json"
        " opencode.jsonc .aider* agents.md agents.*.md claude.md claude.*.md gemini.md gemini.*.md"
        " agent.md qwen.md warp.md copilot-instructions.md .github/hooks .github/instructions"
        " .github/agents .github/chatmodes .github/skills .github/copilot .qwen .kiro .kilocode*"
        " .junie .augment* .goose* .crush .crush.json crush.json .openhands .trae .amazonq .factory"
        " .rules .agent"
    ),
    "git": (
        ".git git~? .gitconfig .gitmodules .gitattributes .hg .hgrc .svn .jj .husky .huskyrc*"
        " .githooks lefthook.* lefthook-local.* .lefthook* .pre-commit-config.yaml"
        " .pre-commit-config.yml prek.toml .overcommit.yml .lfsconfig"
    ),
    "the editor": (
        ".vscode *.code-workspace .idea .run .fleet .zed .helix *.sublime-project .devcontainer"
        " .devcontainer.json .vim .nvim .vimrc .nvimrc .gvimrc .ngvimrc .lvimrc .exrc .nvim.lua"
        " .emacs .emacs.d .dir-locals.el .dir-locals-2.el"
    ),
    "the environment of programs": (
        ".env .env.* *.env .envrc .envrc.* .flaskenv .direnv .autoenv* .tool-versions"
        " mise.toml mise.*.toml .mise .mise.toml .mise.*.toml mise/config.toml mise/conf.d"
        " .config/mise .config/mise.toml"
    ),
    "shells and what starts with them": (
        ".bashrc .zshrc .xsessionrc .mkshrc .kshrc .cshrc .tcshrc .bash_profile .bash_login"
        " .bash_logout .bash_aliases .profile .zshenv .zprofile .zlogin .zlogout .login .logout"
        " config.fish .pam_environment .xprofile .xinitrc .xsession .inputrc .screenrc"
        " .tmux.conf .config/autostart .config/systemd library/launchagents"
    ),
    "interpreters and debuggers": (
        "*.pth pyvenv.cfg sitecustomize.py usercustomize.py .pythonrc .pythonstartup .pdbrc .irbrc"
        " .pryrc .rdbgrc .rprofile .renviron .gdbinit .lldbinit .perldb .ghci .iex.exs .erlang"
        " .ocamlinit .octaverc .pnp.cjs .pnp.loader.mjs bunfig.toml"
    ),
    "package managers": (
        ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc .condarc .cargo .mvn .bundle"
        " .gradle/init.d .gradle/init.gradle .gradle/init.gradle.kts .gradle/gradle.properties"
    ),
    _SECRETS: (
        ".ssh .gnupg .aws .azure .kube .docker .netrc .pgpass .git-credentials .vault-token"
        " keys.env mcp-tokens id_rsa id_dsa id_ecdsa id_ed25519"
    ),
}
"""What takes effect in which program, by name, `*` and `?` for any characters.

With a `/` in it: a name in a folder of a certain name.
"""

_BUILDS: Final = (
    ".github .gitlab .circleci .venv venv site-packages node_modules .gitignore .editorconfig"
    " conftest.py setup.py setup.cfg tox.ini pyproject.toml package.json makefile gnumakefile"
    " justfile settings*.yaml settings*.yml"
)
"""What builds and tests obey: people change it all day, and no state belongs there."""

_SECRET_HOMES: Final = (
    # Of the system, of version control, of clouds and servers.
    ".ssh .gnupg .aws .azure .kube .minikube .docker .netrc .pgpass .my.cnf .mylogin.cnf"
    " .git-credentials .config/git/credentials .config/gh .config/glab-cli .config/hub"
    " .git-credential-cache .cache/git/credential"
    " .config/github-copilot .vault-token .password-store .terraform.d .terraformrc .config/gcloud"
    " .config/op .config/doctl .config/rclone .config/containers/auth.json .config/sops .config/age"
    " .config/Bitwarden .config/1Password .s3cfg .boto .databrickscfg .oci .fly .step/secrets"
    # Of package managers and of what they publish with.
    " .npmrc .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials"
    " .composer/auth.json .config/composer/auth.json .config/pypoetry/auth.toml"
    " .m2/settings-security.xml .cache/huggingface/token .huggingface/token .config/configstore"
    " .config/pip/pip.conf .yarnrc.yml .kaggle .pulumi/credentials.json .config/stripe .supabase"
    " .local/share/com.vercel.cli .config/solana .config/ngrok .wrangler .config/.wrangler"
    " .local/share/uv/credentials .subversion/auth .authinfo .curlrc .msmtprc .lftprc .vnc"
    # Of other agents.
    " .config/io.datasette.llm/keys.json .local/share/amp .factory/auth.json"
    " .claude.json .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json"
    " .qwen/oauth_creds.json .local/share/opencode/auth.json .config/goose/secrets.yaml"
    # What was typed, passwords among it.
    " .bash_history .zsh_history .local/share/fish/fish_history .psql_history .mysql_history"
    " .zhistory .histfile .local/state/bash .local/share/atuin"
    " .python_history .node_repl_history .rediscli_history .sqlite_history"
    # Of browsers, of mail, of the desktop.
    " .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware"
    " .config/microsoft-edge .config/vivaldi .config/opera .local/share/keyrings"
    " .config/Slack .config/discord .config/Signal .Xauthority"
    " .local/share/kwalletd snap/firefox snap/chromium .var/app/org.mozilla.firefox"
    " .var/app/com.google.Chrome Library/Keychains Library/Cookies Library/Safari"
    " Library/Application__Support/Firefox Library/Application__Support/Google/Chrome"
)
_SECRET_NAMES: Final = (
    ".netrc .npmrc .pypirc .pgpass .git-credentials .vault-token keys.env id_rsa id_dsa id_ecdsa"
    " id_ed25519 shadow .env .env.*"
)
_TEMPLATE: Final = lazy_pattern(r"\.env\.(?:.+\.)?(?:example|sample|template|dist)")
"""A file that names the keys a project needs, holds none, and is copied before it counts."""
_SECRET_FOLDERS: Final = ".ssh .gnupg .aws .azure .kube .docker .netrc .password-store mcp-tokens"

IN_AMPLIFIER_HOME: Final = ("keys.env", "mcp-tokens")
"""Where this program keeps keys, and what MCP servers gave to those who signed in."""

_Rows = tuple[dict[str, str], tuple[tuple[str, str], ...], re.Pattern[str]]
"""Names as they are, patterns, and all patterns in one: most names fit none."""


def _rows(table: dict[str, str]) -> _Rows:
    pairs = [(name, words) for words, names in table.items() for name in names.split()]
    exact = {name: words for name, words in pairs if not set("*?") & set(name)}
    patterns = tuple((name, words) for name, words in pairs if name not in exact)
    return (
        exact,
        patterns,
        lazy_pattern("|".join(translate(name) for name, _ in patterns) or "(?!)"),
    )


_NARROW: Final = _rows(_CONFIGURES)
_ONLY_AT_HOME: Final = (".config", "library")
"""There each file counts, whatever its name."""
_HALVES: Final = {
    half: words
    for half, slash, words in (
        (*name.partition("/")[:2], words) for name, words in _NARROW[0].items()
    )
    if slash and half not in _ONLY_AT_HOME
}
"""Names of folders in which some names count that do not elsewhere."""
_WIDE: Final = _rows({**_CONFIGURES, "builds and tests": _BUILDS})
_SECRET_FILES: Final = _rows({_SECRETS: _SECRET_NAMES})
_SECRET_PLACES: Final = _rows({_SECRETS: _SECRET_FOLDERS})


def configures(path: Path, workspace: Path) -> str:
    """Return what a file configures or starts; empty for nothing in particular.

    Args:
        path: Absolute, links followed. In the workspace only the names below it count.
        workspace: Absolute, links followed.

    Returns:
        Whom it would take effect on, such as `git` or `shells and what starts with them`.
    """
    inside = path.is_relative_to(workspace)
    parts = path.relative_to(workspace).parts if inside else path.parts
    pairs = zip(parts, ("", *parts), strict=False)
    whom = next((words for name, folder in pairs if (words := _whom(name, folder))), "")
    if not whom and shadows(path, workspace):
        whom = "commands of that name"
    return whom or ("this program" if is_own_code(path, workspace) else "")


def configuring(name: str, folder: str = "") -> bool:
    """Return whether a file or folder of this name configures or starts programs.

    Args:
        folder: The name of the folder it is in: some do so only there.
    """
    return bool(_whom(name, folder))


def configures_as_link(name: str) -> str:
    """Return what a link of this name may configure by what is in the folder that it leads to.

    As `.github`, of which only some of what is in it configures anything. Empty for other names.
    """
    return _HALVES.get(_plain(name), "")


def _whom(name: str, folder: str) -> str:
    if _TEMPLATE.fullmatch(_plain(name)):
        return ""
    exact, *_ = _NARROW
    return _found(name, _NARROW) or exact.get(f"{_plain(folder)}/{_plain(name)}", "")


def starts_from_home(path: Path) -> bool:
    """Return whether programs look for a file there: what begins with a dot, and the like.

    Args:
        path: Below the user's home folder.
    """
    first = path.parts[:1]
    return bool(first) and (first[0].startswith(".") or first[0] in ("bin", "Library"))


def is_obeyed(name: str) -> bool:
    """Return whether a program obeys or starts a file or folder of this name, builds included."""
    return bool(_found(name, _WIDE))


def holds_secrets(path: Path) -> bool:
    """Return whether keys or passwords are usually kept at a path."""
    return holds_secrets_at(path.parts)


def holds_secrets_at(parts: Sequence[str]) -> bool:
    """Do the same as `holds_secrets` for the names that lead to a file, the last one its own."""
    if parts and _found(parts[-1], _SECRET_FILES) and not _TEMPLATE.fullmatch(_plain(parts[-1])):
        return True
    return any(_found(part, _SECRET_PLACES) for part in parts)


def secret_homes(home: Path) -> tuple[Path, ...]:
    """Return where programs keep keys, passwords and browsers' profiles below a home folder."""
    return tuple(home / name.replace("__", " ") for name in _SECRET_HOMES.split())


def _found(name: str, rows: _Rows) -> str:
    exact, patterns, any_of_them = rows
    plain = _plain(name)
    found = exact.get(plain, "")
    if not found and any_of_them.match(plain):
        found = next((words for row, words in patterns if fnmatchcase(plain, row)), "")
    return found


def _plain(name: str) -> str:
    """The name without what some file systems ignore: case, compatible letters, signs of no width,
    stops and blanks at the end, the name of a stream.
    """
    if name.isascii():
        return name.partition(":")[0].lower().rstrip(" .")
    plain = unicodedata.normalize("NFKC", name.partition(":")[0])
    plain = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", plain.casefold()).rstrip(" .")
