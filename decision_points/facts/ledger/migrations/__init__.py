"""How the journal's tables came about, revision by revision; run by Alembic."""
