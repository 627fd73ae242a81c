"""The session: configuration, store, providers and run control behind one API for the front ends."""
