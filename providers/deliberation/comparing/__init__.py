"""Arms of an experiment, tried on the same items: what is a debate worth here, for its cost."""
