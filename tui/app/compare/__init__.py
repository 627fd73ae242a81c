"""Compare: two answers side by side, their differences, and preferences between models."""
