"""Getting a request down to size: the plan, what was decided, and how rows are shortened."""
