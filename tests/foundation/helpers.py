"""What several tests of this room need."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from amplifier_tui.foundation.trust.gate import TrustRequest


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def allow(request: TrustRequest) -> bool:
    return True


class Recorder:
    def __init__(self, *refused: str) -> None:
        self.requests: list[TrustRequest] = []
        self._refused = refused

    def __call__(self, request: TrustRequest) -> bool:
        self.requests.append(request)
        return request.action not in self._refused

    @property
    def actions(self) -> list[str]:
        return [request.action for request in self.requests]


@dataclass
class GitRepo:
    path: Path

    @classmethod
    def create(cls, path: Path, files: dict[str, str]) -> "GitRepo":
        path.mkdir(parents=True)
        repo = cls(path)
        repo.git("init", "--quiet", "--initial-branch=main")
        repo.commit(files)
        return repo

    def git(self, *args: str) -> str:
        env = {
            **os.environ,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "t",
            "GIT_AUTHOR_EMAIL": "t@example.com",
            "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@example.com",
        }
        done = subprocess.run(
            ["git", *args], cwd=self.path, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str]) -> str:
        for name, text in files.items():
            write(self.path / name, text)
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def uri(self, ref: str = "main", subdirectory: str = "") -> str:
        fragment = f"#subdirectory={subdirectory}" if subdirectory else ""
        return f"git+file://{self.path}@{ref}{fragment}"
