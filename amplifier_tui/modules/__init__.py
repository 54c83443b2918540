"""The built-in modules, one file or folder per module id."""
