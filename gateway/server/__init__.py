"""The HTTP gateway: what `pointsman serve` runs; the extra `server`."""
