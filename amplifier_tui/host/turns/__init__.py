"""Turns: prompts in, answers out, and everything that can stop one."""
