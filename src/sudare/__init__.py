"""sudare: safe, useful and proven releases of tables about people."""

__version__ = "0.1.0"
