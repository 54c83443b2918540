"""A real redis-server on a unix socket."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import redis


def find_redis_server() -> str | None:
    """Return the program: ``$REDIS_SERVER``, or ``redis-server`` on the PATH."""
    return os.environ.get("REDIS_SERVER") or shutil.which("redis-server")


class RedisServer:
    """Runs until it is stopped; what it holds goes with it."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.socket = folder / "redis.sock"
        self.url = f"unix://{self.socket}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                self._program,
                *("--port", "0"),
                *("--unixsocket", str(self.socket)),
                *("--dir", str(self._folder)),
                *("--save", ""),
                *("--appendonly", "no"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        client = redis.Redis(unix_socket_path=str(self.socket))
        while True:
            try:
                client.ping()
                break
            except redis.exceptions.ConnectionError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.02)
        client.close()

    def freeze(self) -> None:
        """Let it hang: connections stay open, nothing is answered."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process is not None:
            self.thaw()
            self._process.terminate()
            self._process.wait(20)
            self._process = None
