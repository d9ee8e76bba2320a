"""`pointsman replay`."""
