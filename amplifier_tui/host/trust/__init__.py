"""What may be fetched, installed and executed."""
