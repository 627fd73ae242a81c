"""Models and agents behind one small protocol; the only home of httpx."""
