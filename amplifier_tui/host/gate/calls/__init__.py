"""The calls behind the gate: which may run, how they run, how long their results may be."""
