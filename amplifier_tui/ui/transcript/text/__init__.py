"""Styled text: lines, colours, wrapping."""
