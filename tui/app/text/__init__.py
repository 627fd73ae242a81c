"""Text laid out for the screen: the safe funnel, wrapping, marks, code. Without textual."""
