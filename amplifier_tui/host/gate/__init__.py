"""Asking the user: what is asked, how risky it is, who answered."""
