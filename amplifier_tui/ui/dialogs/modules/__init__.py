"""Dialogs about the modules of the session and what they bring."""
