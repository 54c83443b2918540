"""From the kernel's events to those of a front end."""
