"""`pointsman keys`: who may use the server."""
