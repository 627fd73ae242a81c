"""Scoring risk by hand, as a screen shows it. Without textual."""
