"""One module for each scenario: TITLE, QUESTION, METRICS and run(run)."""
