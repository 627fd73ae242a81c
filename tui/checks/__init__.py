"""Patterns and assertions: watched while text arrives, decided on the whole answer."""
