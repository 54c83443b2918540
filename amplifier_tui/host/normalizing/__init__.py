"""The parts of the normaliser: each turns some of the kernel's events into events for a screen."""
