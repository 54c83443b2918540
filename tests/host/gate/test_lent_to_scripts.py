"""What npm, yarn and pnpm take in and run besides what a registry has, and what they do not."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from tests.host.gate.test_lent_to_installs import write

PREPARE = {"scripts": {"prepare": "husky"}, "dependencies": {"left-pad": "^1.3.0"}}
YARN = 'left-pad@^1.3.0:\n  version "1.3.0"\n'
BERRY = (
    "# This is generated\n\n__metadata:\n  version: 8\n  cacheKey: 10c0\n\n"
    '"p@workspace:.":\n  version: 0.0.0-use.local\n  resolution: "p@workspace:."\n'
    '  dependencies:\n    left-pad: "npm:^1.3.0"\n    react: ^16.8 || ^17.0\n'
    "  languageName: unknown\n  linkType: soft\n\n"
    '"left-pad@npm:^1.3.0, left-pad@npm:~1.3":\n  version: 1.3.0\n'
    '  resolution: "left-pad@npm:1.3.0"\n  dependenciesMeta:\n    x:\n      optional: true\n'
    "  bin:\n    pad: ./bin/pad\n  conditions: os=linux & cpu=x64 & libc=glibc\n"
    "  checksum: 10c0/ab12\n  languageName: node\n  linkType: hard\n\n"
    '"ts@patch:ts@npm%3A5#optional!builtin<compat/typescript>":\n  version: 5.0.0\n'
    '  resolution: "ts@patch:ts@npm%3A5#optional!builtin<compat/typescript>'
    '::version=5.0.0&hash=a1"\n'
)
PNPM = (
    "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      left-pad:\n"
    "        specifier: ^1.3.0\n        version: 1.3.0(react@18.2.0)\npackages:\n"
    "  left-pad@1.3.0:\n    resolution: {integrity: sha512-ab}\n    engines: {node: '>=10'}\n"
)


def decided(line: str, folder: Path, rule: str = "") -> GateDecision:
    book = RuleBook([parse_rule(f"bash({rule or line})", "allow")])
    gate = Gate(folder, lambda: book, "ask", sandbox=lambda: "")
    return gate.decide("bash", {"command": line}, confines=True)


@pytest.mark.parametrize(
    "line",
    [
        "npm install -D left-pad",
        "npm install --save-dev left-pad",
        "npm i -E left-pad",
        "npm add --save-exact --no-audit left-pad",
        "npm -D install left-pad",
    ],
)
def test_scripts_around_are_no_reason_where_packages_are_named(tmp_path: Path, line: str) -> None:
    write(tmp_path, {"package.json": PREPARE})
    assert decided(line, tmp_path).verdict == "allow"
    for other in ("npm install -D", "npm ci -D left-pad", "npm install --tag left-pad"):
        assert "the script prepare" in decided(other, tmp_path).reason


def test_nothing_around_is_where_they_are_for_the_whole_machine(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": {"scripts": {"dependencies": "sh x.sh"}}})
    assert decided("npm install -g left-pad", tmp_path).verdict == "allow"
    assert decided("npm install left-pad --global", tmp_path).verdict == "allow"
    assert decided("npm install left-pad", tmp_path).verdict == "ask"
    assert decided("npm install -g", tmp_path).verdict == "ask"


@pytest.mark.parametrize(
    ("line", "name", "text", "named"),
    [
        ("npm ci", "package-lock.json", '{"a":{"resolved":"\\u0066ile:e.tgz"}}', "of e.tgz"),
        ("npm ci", "package-lock.json", '{"a":{"resolved":"e.tgz"}}', "of e.tgz"),
        ("npm ci", "package-lock.json", '{"a":{"version":"file:e.tgz"}}', "of e.tgz"),
        ("npm ci", "package-lock.json", '{"dependencies":{"e":"file:e.tgz"}}', "of e.tgz"),
        ("npm ci", "package-lock.json", '{"a":{"resolved":"http://h/e"}}', "`http://h/e`"),
        (
            *("npm ci", "package-lock.json"),
            '{"packages":{"node_modules/a":{"resolved":"https://r.org/a.tgz","link":true}}}',
            "what is in package-lock.json",
        ),
        ("npm ci", "package-lock.json", '{"packages":{"https:/x":{}}}', "is in package-lock.json"),
        ("npm ci", "package-lock.json", '{"packages":{"../x":{}}}', "is in package-lock.json"),
        ("npm ci", "package-lock.json", "{", "what is in package-lock.json"),
        ("npm ci", "npm-shrinkwrap.json", "{" + " " * 30_000_000 + "}", "is in npm-shrinkwrap"),
        ("npm ci", "yarn.lock", YARN + '  resolved "./e.tgz"\n', "scripts of e.tgz"),
        ("yarn install", "yarn.lock", YARN + '  resolved "./e.tgz"\n', "scripts of e.tgz"),
        ("yarn install", "yarn.lock", YARN + "  resolved ./e.tgz\n", "scripts of e.tgz"),
        ("yarn install", "yarn.lock", YARN + '  resolved "\\u0066ile:e.tgz"', "is in yarn.lock"),
        ("yarn install", "yarn.lock", YARN + '  uid a resolved "./e.tgz"', "is in yarn.lock"),
        ("yarn install", "yarn.lock", YARN + "  uid a resolved e.tgz", "`a resolved e.tgz`"),
        ("yarn install", "yarn.lock", YARN + '  dependencies:\n    e "./e.tgz"', "of e.tgz"),
        ("yarn install", "yarn.lock", BERRY + '  resolution: "e@file:./e.tgz"', "of e.tgz"),
        ("yarn install", "yarn.lock", "{a: {resolution: 'e@file:e.tgz'}}", "is in yarn.lock"),
        ("pnpm install", "pnpm-lock.yaml", "a: {tarball: e.tgz}", "scripts of e.tgz"),
        ("pnpm install", "pnpm-lock.yaml", "a: {version: file:e.tgz}", "scripts of e.tgz"),
        ("pnpm install", "pnpm-lock.yaml", "a: &b {'tarball': 'e.tgz'}", "scripts of e.tgz"),
        ("pnpm install", "pnpm-lock.yaml", 'a: {tarball: "\\x65.tgz"}', "is in pnpm-lock.yaml"),
        ("pnpm install", "pnpm-lock.yaml", "a: {repo: ../r}", "`../r`, named in pnpm-lock.yaml"),
        ("pnpm install", "pnpm-workspace.yaml", "pnpmfile: ./e.cjs", "is in pnpm-workspace.yaml"),
        ("pnpm install", "pnpm-workspace.yaml", "overrides: {a: 'file:e.tgz'}", "in pnpm-worksp"),
        ("pnpm install", "pnpm-workspace.yaml", "catalog: {a: ./e.tgz}", "in pnpm-workspace"),
        ("pnpm install", "pnpm-workspace.yaml", "{", "what is in pnpm-workspace.yaml"),
    ],
)
def test_what_a_lock_or_a_workspace_takes_in_else_is_asked_about(
    tmp_path: Path, line: str, name: str, text: str, named: str
) -> None:
    write(tmp_path, {"package.json": PREPARE["dependencies"], "e.tgz": "", name: text})
    decision = decided(line, tmp_path)
    assert decision.verdict == "ask" and named in decision.reason


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("npm ci", "package-lock.json", '{"a":{"resolved":"https://r.org/a.tgz"},"b":{}}'),
        ("npm ci", "package-lock.json", '{"packages":{"":{},"node_modules/a":{},"lib":{}}}'),
        ("npm ci", "package-lock.json", '{"a":{"peerDependencies":{"b":">=16 || ^17.0.0-rc"}}}'),
        ("npm ci", "pnpm-lock.yaml", "{"),
        ("yarn install", "yarn.lock", YARN + '  resolved "https://r.org/l.tgz#ab12"\n'),
        ("yarn install", "yarn.lock", BERRY),
        ("pnpm install", "pnpm-lock.yaml", PNPM),
        ("pnpm install", "pnpm-workspace.yaml", "packages: [a]\nonlyBuiltDependencies: [esbuild]"),
        ("pnpm install", "pnpm-workspace.yaml", "catalog: {a: ^1}\noverrides: {b: '>=2 <3'}"),
    ],
)
def test_a_lock_of_a_registry_alone_goes(tmp_path: Path, line: str, name: str, text: str) -> None:
    write(tmp_path, {"package.json": {"dependencies": {"left-pad": "^1.3.0"}}, name: text})
    decision = decided(line, tmp_path)
    assert (decision.verdict, decision.network) == ("allow", True), decision.reason


@pytest.mark.parametrize("place", [".yarn/releases/y.cjs", "tools/y.cjs"])
@pytest.mark.parametrize(
    ("name", "text"), [(".yarnrc", 'yarn-path "{}"'), (".yarnrc.yml", "yarnPath: {}")]
)
def test_without_scripts_too_yarn_may_be_a_file_of_the_workspace(
    tmp_path: Path, place: str, name: str, text: str
) -> None:
    write(tmp_path, {"package.json": {}, name: text.format(place), place: ""})
    for line in ("yarn install", "yarn install --ignore-scripts"):
        assert f"what is in {place}" in decided(line, tmp_path).reason


def test_a_word_that_takes_it_back_leaves_no_script_out(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": PREPARE})
    assert decided("npm ci --ignore-scripts", tmp_path).verdict == "allow"
    assert decided("npm ci --ignore-scripts --no-ignore-scripts", tmp_path).verdict == "ask"
