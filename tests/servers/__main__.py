"""`python -m tests.servers --api anthropic|openai --script FILE.json --port 0`.

Prints the port on the first line of stdout and serves until it is ended or, where stdin is a pipe,
until that is closed, so that it does not outlive the test that started it.
`POST /_/open/NAME` opens a gate of the script, `GET /_/requests` lists what was asked.
"""

import argparse
import os
import stat
import sys
import threading
from pathlib import Path

from tests.servers.script_file import load


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    parser.add_argument("--api", choices=["anthropic", "openai", "any"], default="any")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = load(options.script, port=options.port)
    if options.api != "any":
        server.only(options.api)
    with server:
        print(server.port, flush=True)
        try:
            if stat.S_ISFIFO(os.fstat(0).st_mode):
                sys.stdin.read()
            else:
                threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
