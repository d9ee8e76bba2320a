"""`pointsman report`."""
