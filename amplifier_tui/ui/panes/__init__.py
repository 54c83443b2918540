"""The instruments beside the conversation."""
