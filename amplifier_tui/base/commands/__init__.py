"""Running commands: in a group of their own, output in bounded space; and naming our own."""
