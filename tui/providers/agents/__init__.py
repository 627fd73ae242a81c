"""Agents: Python files and commands in guarded processes, and HTTP endpoints."""
