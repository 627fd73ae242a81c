"""Figures from counts: pure functions of numbers and names that know nothing of the rest; numpy lives here."""
