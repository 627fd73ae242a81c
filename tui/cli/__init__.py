"""The command line; the app is imported only when it is opened."""
