"""Keys of a text field act in the order in which they were pressed, however fast they come."""

from textual import events
from textual.widget import Widget


async def act_in_order(field: Widget, event: events.Key) -> None:
    """Run what a key that types nothing is bound to in a field, before the field gets the next.

    Textual looks for the binding when the key has come up from the field to the app. Over a slow
    line keys arrive together, and what was typed next would be in the text by then.
    """
    if event.is_printable:
        return
    for binding in field._bindings.key_to_bindings.get(event.key, ()):
        if not binding.priority and await field.app.run_action(binding.action, field):
            event.stop()
            event.prevent_default()
            return
