"""The command `pointsman debate`."""
