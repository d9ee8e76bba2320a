"""`pointsman calibrate`."""
