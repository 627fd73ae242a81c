"""Evaluating patterns and assertions: provisionally while an answer streams, finally on the whole answer."""
