"""The command line; imports the app only when it is asked for."""
