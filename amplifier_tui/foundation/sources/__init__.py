"""Where bundles and modules come from: this machine, git, downloads, archives, packages."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        ".protocols": "SourceStatus",
        "context": "FetchContext FetchLimits requested_by",
        "git": "GitSourceHandler",
        "http": "HttpSourceHandler",
        "local": "FileSourceHandler PackageSourceHandler",
        "resolver": "SimpleSourceResolver",
        "zip": "ZipSourceHandler",
    },
)
