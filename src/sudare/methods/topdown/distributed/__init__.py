"""The top-down methods where the rows of a table are on many machines."""
