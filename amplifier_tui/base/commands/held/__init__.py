"""What is read-only in a sandbox that runs, and stays so."""
