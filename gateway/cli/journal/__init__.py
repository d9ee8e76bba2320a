"""`pointsman journal`."""
