"""The terminal, and the private corners of Textual the program depends on."""
