"""How a decision is made: from a question to a record, read top to bottom in `engine.py`."""
