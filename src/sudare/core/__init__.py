"""What every room stands on: errors, progress, randomness, memory, and limits on what users name."""
