"""The terminal in which people run, watch and steer Amplifier agents."""

__version__ = "0.1.0"
