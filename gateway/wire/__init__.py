"""The dialects of the decision APIs: encode and decode, for providers and for a server."""
