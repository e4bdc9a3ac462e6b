"""Releases of rows on a Spark cluster."""
