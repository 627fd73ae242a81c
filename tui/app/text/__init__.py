"""Text laid out for the screen: sanitizing, wrapping, marks, code. Without textual."""
