"""Questions to the user: who asks, what is shown, who answers, and the record of it."""
