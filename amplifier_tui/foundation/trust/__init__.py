"""Nothing of a stranger is fetched, installed, run or sent a key unless it is allowed."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "gate": """
            TrustAction TrustCallback TrustGate TrustRequest shipped_only trust_everything
        """,
    },
)
