"""Top-down methods: clusters are split until no split keeps the policy."""
