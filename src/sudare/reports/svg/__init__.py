"""The drawing kit, and the charts made with it."""
