"""What the user gives: a table, read and encoded as the policy says."""
