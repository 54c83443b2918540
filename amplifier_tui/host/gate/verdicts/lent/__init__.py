"""Why rules do not lend the network to a command line that needs it: what else would have it."""
