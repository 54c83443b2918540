"""One entry of the conversation to lines."""
