"""Statistics of the standard library: numbers in, numbers out; nothing here knows a decision."""
