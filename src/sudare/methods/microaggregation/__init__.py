"""Methods that grow classes from single records or groups, and the polish that improves any classes."""
