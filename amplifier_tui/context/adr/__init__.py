"""The API of ADR 0016: messages, sessions, context providers, histories, and an agent to run."""
