"""What the providers with an API share; each configures it with its SDK, formats and words."""
