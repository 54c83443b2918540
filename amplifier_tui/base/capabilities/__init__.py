"""What hosts and modules agree on: capabilities that one registers and the other uses."""
