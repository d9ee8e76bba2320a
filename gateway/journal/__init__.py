"""Records: written off the decision path, kept in a database, read by evaluation."""
