"""Where bundles and modules come from: this machine, git, downloads, archives, packages."""

from amplifier_tui.foundation.sources.context import FetchContext, FetchLimits, requested_by
from amplifier_tui.foundation.sources.file import FileSourceHandler
from amplifier_tui.foundation.sources.git import GitSourceHandler
from amplifier_tui.foundation.sources.http import HttpSourceHandler
from amplifier_tui.foundation.sources.package import PackageSourceHandler
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.sources.status import SourceStatus
from amplifier_tui.foundation.sources.zip import ZipSourceHandler

__all__ = [
    "FetchContext",
    "FetchLimits",
    "FileSourceHandler",
    "GitSourceHandler",
    "HttpSourceHandler",
    "PackageSourceHandler",
    "SimpleSourceResolver",
    "SourceStatus",
    "ZipSourceHandler",
    "requested_by",
]
