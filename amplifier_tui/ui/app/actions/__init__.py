"""What the rows of `ui/keys/actions.py` with `app.` do, by topic.

Dialogs are pushed by the app: a callback that belongs to a widget would be lost with the widget.
"""
