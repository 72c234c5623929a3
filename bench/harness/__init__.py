"""What the scenarios share: processes, load, measurements and the report."""
