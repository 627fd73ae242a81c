"""The matrix of cases and models: its model, its lines of text, and its screen."""
