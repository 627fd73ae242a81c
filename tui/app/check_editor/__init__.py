"""The check editor: edit a check, and see which recorded verdicts it would change."""
