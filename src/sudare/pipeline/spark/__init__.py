"""Making a release where the rows are on a Spark cluster."""
