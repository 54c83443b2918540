"""A session in a process of its own, for what must not share this one (`amplifier_foundation`)."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amplifier_tui.base.jsonl import read_object
from amplifier_tui.foundation.sources.process import run_process

_MODULE = "amplifier_tui.foundation.subprocess_runner"


async def run_session_in_subprocess(
    config: Mapping[str, Any],
    prompt: str,
    parent_id: str | None = None,
    project_path: str | Path | None = None,
    session_id: str | None = None,
    timeout: float = 1800.0,
    module_paths: Mapping[str, str | Path] | None = None,
    bundle_package_paths: Sequence[str] | None = None,
    sys_paths: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Run one prompt in a new session in a process of its own, and return what came of it.

    Nobody can be asked there: what needs an approval is denied. The process ends with this one, and
    when the caller is cancelled.

    Args:
        config: The mount plan; plain data.
        prompt: What the session is to do.
        parent_id: The session it is a child of.
        project_path: Its folder; default this process's.
        session_id: Default a new one.
        timeout: Seconds it may take.
        module_paths: Folder of each module that is not installed, by id.
        bundle_package_paths: Folders of the bundle's own packages.
        sys_paths: What the process's `sys.path` has more.

    Returns:
        `output`, `session_id`, `status`, `turn_count` and `metadata`.

    Raises:
        TypeError: The configuration is no plain data.
        TimeoutError: Time was up.
        RuntimeError: The session failed; the message says why.
    """
    request = {
        "config": dict(config),
        "prompt": prompt,
        "parent_id": parent_id,
        "project_path": str(project_path or Path.cwd()),
        "session_id": session_id,
        "module_paths": {name: str(path) for name, path in (module_paths or {}).items()},
        "bundle_package_paths": list(bundle_package_paths or ()),
        "sys_paths": list(sys_paths or ()),
    }
    text = json.dumps(request)
    # A private folder, for a plan may have keys. It also starts there, where Python looks for
    # modules: no other folder could be trusted with that.
    with tempfile.TemporaryDirectory(prefix="amplifier-session-") as folder:
        place = Path(folder)
        (place / "request.json").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "amplifier_tui.compat", "-m", _MODULE, folder]
        done = await run_process(command, timeout=timeout, cwd=place)
        answer = await asyncio.to_thread(read_object, place / "answer.json")
    if "result" in answer:
        result: dict[str, Any] = answer["result"]
        return result
    reason = answer.get("error") or done.stderr.strip()[-2_000:] or f"exit {done.returncode}"
    raise RuntimeError(f"The session in a process of its own failed: {reason}")


async def _run(request: Mapping[str, Any]) -> dict[str, Any]:
    from amplifier_tui import kernel
    from amplifier_tui.foundation.bundle.session import equip
    from amplifier_tui.foundation.modules.resolver import BundleModuleResolver
    from amplifier_tui.foundation.session.capture import TurnCapture

    session = kernel.AmplifierSession(
        request["config"], session_id=request["session_id"], parent_id=request["parent_id"]
    )
    paths = {name: Path(path) for name, path in request["module_paths"].items()}
    folder, packages = Path(request["project_path"]), request["bundle_package_paths"]
    await equip(session, BundleModuleResolver(paths), packages, folder)
    async with session:
        capture = TurnCapture(session.coordinator.hooks)
        output = await session.execute(request["prompt"])
        return capture.as_result(session.session_id, output)


def _main(folder: Path) -> int:
    from amplifier_tui.kernel.mounting.packages.from_source import import_from_source

    request = read_object(folder / "request.json")
    answer: dict[str, Any]
    try:
        os.chdir(request["project_path"])
        sys.path[:0] = [*request["sys_paths"], *request["bundle_package_paths"]]
        for path in request["bundle_package_paths"]:
            import_from_source(Path(path))
        answer = {"result": asyncio.run(_run(request))}
    except Exception as error:  # whatever a module raises, the one who asked reads it
        answer = {"error": f"{type(error).__name__}: {error}"}
    (folder / "answer.json").write_text(json.dumps(answer, default=str), encoding="utf-8")
    return 0 if "result" in answer else 1


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1])))
