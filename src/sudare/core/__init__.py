"""The base of all rooms: errors, progress, randomness, memory, and limits on user input."""
