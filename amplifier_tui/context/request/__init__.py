"""Making one request: its budget, its rows, what fits, and the report on it."""
