"""What runs without a question: the standing rules, why a call goes or not, the audit log."""
