"""Models and agents behind one small protocol; the only package that imports httpx."""
