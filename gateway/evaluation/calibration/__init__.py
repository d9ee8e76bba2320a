"""From which confidence on a provider may be believed: samples in, certificates out."""
