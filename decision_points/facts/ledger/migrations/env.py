"""What Alembic runs: the revisions, on the connection and inside the transaction it is given."""

from __future__ import annotations

from alembic import context

given = context.config.attributes
context.configure(connection=given["connection"], version_table=given["version_table"])
context.run_migrations()
