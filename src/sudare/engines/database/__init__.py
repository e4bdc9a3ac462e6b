"""Tables of databases: DuckDB and PostgreSQL."""
