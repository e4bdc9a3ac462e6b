"""Sources: the user's table, read and encoded as the policy says."""
