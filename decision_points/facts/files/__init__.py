"""Files that an operator writes for facts: TOML, CSV, durations; every fault of a file at once."""
