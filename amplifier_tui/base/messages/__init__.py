"""What stands in the messages of a conversation, whichever program wrote them."""
