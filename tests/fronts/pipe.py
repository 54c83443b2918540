"""Another program that holds a conversation with `amplifier-tui run` over pipes."""

import json
import os
import sys
import threading
from io import BufferedReader, FileIO
from typing import Any

import pytest

from amplifier_tui.cli.run.headless import Headless, Limits
from amplifier_tui.cli.run.lines import InputLines
from amplifier_tui.cli.run.speaking import Speaker
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host import LocalClient
from amplifier_tui.host.events import HostEvent
from tests.fronts.player import Act, Player
from tests.fronts.stage import Held, Stage

Row = dict[str, Any]


def hold(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Hold the conversation of a stage; `told` has the rows of the output."""
    held = Held(stage.folder, told=[])
    with stage.set() as bundle:
        for request, player in stage.requests(bundle, held):
            read, write = os.pipe()
            out, into = os.pipe()
            program = threading.Thread(target=_write, args=(out, write, player, held))
            program.start()
            with open(into, "w", encoding="utf-8") as stdout, monkeypatch.context() as patched:
                patched.setattr(sys, "__stdout__", stdout)
                speaker = Speaker(whole=True, asks=False)
                lines = InputLines(BufferedReader(FileIO(read)))
                client = LocalClient(trust_everything)
                Headless(client, request, "", Limits(), speaker, lines=lines).run()
            program.join()
    return stage.end(held)


def _write(out: int, into: int, player: Player, held: Held) -> None:
    """Read the output, line by line, and write what the user does about it."""
    with open(out, encoding="utf-8") as output, open(into, "w", encoding="utf-8") as lines:
        for line in output:
            row = json.loads(line)
            held.told.append(row)
            if row["type"] in HostEvent.registry:
                event = HostEvent.from_json(row)
                held.events.append(event)
                for act in player.sees(event):
                    if act.kind == "leave":
                        lines.close()
                    else:
                        lines.write(f"{json.dumps(_line(act))}\n")
                        lines.flush()


def _line(act: Act) -> Row:
    match act.kind:
        case "prompt" | "queue":
            return {"type": "prompt", "text": act.what, "attachments": list(act.attached)}
        case "steer":
            return {"type": "steer", "text": act.what}
        case "stop":
            return {"type": "stop", "now": act.what == "now"}
        case "decide" if act.what == "deny":
            return {"type": "decide", "request_id": act.asked.request_id, "allow": False}
        case "decide":
            asked = act.asked.request_id
            return {"type": "decide", "request_id": asked, "allow": True, "scope": act.what}
        case "answer":
            answers = [] if act.what == "decline" else [{"chosen": list(act.what)}]
            return {"type": "answer", "request_id": act.asked.request_id, "answers": answers}
        case "limit":
            return {"type": "limit", "request_id": act.asked.request_id, "go": act.what == "go"}
        case _:
            return {"type": "carry_out", "mode": act.what}
