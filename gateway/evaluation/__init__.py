"""Whether a decider is right, how far it may be believed, and which of two is better."""
