"""Screens, widgets and dialogs of the terminal app. Only this package imports textual."""
