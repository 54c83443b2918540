"""Standing rules: their text, what they cover, the book of them and their files."""
