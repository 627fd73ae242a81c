"""Agents: Python files and commands in guarded processes of their own, and HTTP endpoints."""
