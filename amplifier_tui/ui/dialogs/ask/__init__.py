"""Questions of an agent to the user: what is answered so far, how it looks, the dialog."""
