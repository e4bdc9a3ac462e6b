"""Tests of the privacy models."""
