"""What the screen shows, as plain data; no Textual here."""
