"""A session with thirty MCP servers of which nothing is known yet, and with them known.

The whole app, headless, with the real host. The servers are small programs without the SDK.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

# As in the program; Textual reads it when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "200")

from amplifier_tui.base.tokens import schema_tokens
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.ui.app.app import AmplifierApp
from tests.bench.heart import Heart, stall_row
from tests.bench.program import machine
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.host.driving import Project

SERVERS, TOOLS = 30, 400
LONGEST = 90.0
ALLOWED_TOKENS = 10_000
_SERVER = """
import json, sys

names = sys.argv[1:]
texts = {"type": "string", "description": "A long explanation of what is meant. " * 8}
schema = {"type": "object", "properties": {key: texts for key in "abcd"}}
for line in sys.stdin:
    message = json.loads(line)
    number, method = message.get("id"), message.get("method")
    if number is None:
        continue
    answer = {"jsonrpc": "2.0", "id": number}
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "many", "version": "1"}
        answer["result"] = {
            "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info
        }
    elif method == "tools/list":
        tools = [{"name": n, "description": n, "inputSchema": schema} for n in names]
        answer["result"] = {"tools": tools}
    else:
        answer["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(answer), flush=True)
"""


def write_servers(home: Machine) -> str:
    """Write the user's `mcp.json`; returns the bundle to open."""
    script = home.home / "many.py"
    script.write_text(_SERVER)
    each = [TOOLS // SERVERS + (at < TOOLS % SERVERS) for at in range(SERVERS)]
    servers = {
        f"server{at}": {
            "command": sys.executable,
            "args": ["-I", str(script), *(f"tool_{at}_{n}" for n in range(count))],
        }
        for at, count in enumerate(each)
    }
    place = Path(home.env["AMPLIFIER_HOME"])
    place.mkdir(parents=True, exist_ok=True)
    (place / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return Project(home.project).bundle(tools=("tool-mcp",))


async def opened(home: Machine, bundle: str) -> tuple[float, Heart, float, int]:
    """Open a session; wait until all servers are known.

    Returns:
        Milliseconds to the session, the heart until all are known, milliseconds to that, and the
        tokens a model is told of tools.
    """
    os.environ.update(home.env)
    request = OpenRequest(cwd=home.project, bundle=bundle)
    client = LocalClient(trust=trust_everything)
    began = time.perf_counter()
    app = AmplifierApp(lambda: (client, request), cwd=home.project)
    async with app.run_test(size=(120, 36)), asyncio.timeout(LONGEST):
        await app.ready.wait()
        while app.state is None or not app.state.facts.opened:
            await asyncio.sleep(0.005)
        ready = (time.perf_counter() - began) * 1000
        async with Heart() as heart:
            while True:
                statuses = await asyncio.wrap_future(client.mcp_servers())
                if sum(len(status.tools) for status in statuses) == TOOLS:
                    break
                await asyncio.sleep(0.1)
            known = (time.perf_counter() - began) * 1000
        details = await asyncio.wrap_future(client.module_details("tool-mcp"))
        told = [[card.name, card.description, card.schema] for card in details.tools]
        tokens = sum(map(schema_tokens, told))
        await asyncio.to_thread(client.close().result, LONGEST)
    return ready, heart, known, tokens


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    with machine() as home:
        bundle = write_servers(home)
        first, heart, known, tokens = asyncio.run(opened(home, bundle))
        again, _, at_once, _ = asyncio.run(opened(home, bundle))
    how = f"headless app with the real host, {SERVERS} servers with {TOOLS} tools"
    return [
        Row(what="session ready, servers unknown", value=first, unit="ms", goal=2_000.0, how=how),
        Row(what="  all of them known", value=known, unit="ms", how=how),
        stall_row("  UI stall meanwhile: max", [heart], 50.0, how),
        Row(what="session ready, servers known", value=again, unit="ms", goal=2_000.0, how=how),
        Row(what="  all of them known", value=at_once, unit="ms", goal=2_000.0, how=how),
        Row(
            what="tokens a model is told of tools",
            value=float(tokens),
            unit="tokens",
            goal=float(ALLOWED_TOKENS),
            how=how,
        ),
    ]
