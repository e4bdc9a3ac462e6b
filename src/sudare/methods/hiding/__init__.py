"""Methods that leave quasi-identifiers unchanged and hide sensitive values."""
