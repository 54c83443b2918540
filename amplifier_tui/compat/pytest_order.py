"""Loaded by pytest as its first plugin: puts the aliases before pytest's own import hook.

That hook would load packages that bring plugins, the real `amplifier_core` among them, by itself.
In the worker processes of pytest-xdist it is what installs the aliases at all.
"""

from amplifier_tui import compat

compat.install()
