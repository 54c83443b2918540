"""A session: opened, running, compacted, taken along into another one."""
