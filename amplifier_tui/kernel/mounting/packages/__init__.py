"""Packages of modules: finding them on disk, importing them, their place on `sys.path`."""
