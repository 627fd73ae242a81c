"""Importing the results of other tools as runs."""
