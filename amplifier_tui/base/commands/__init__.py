"""Running commands: in a group of their own, their output kept in bounded space."""
