"""The race against the peers: one decision, one upstream, one run; see `benchmarks/race.py`."""
