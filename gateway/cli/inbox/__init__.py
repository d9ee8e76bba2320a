"""`pointsman inbox`."""
