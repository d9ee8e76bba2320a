"""The command `pointsman facts`."""
