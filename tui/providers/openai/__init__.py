"""Speak the OpenAI protocols: Chat Completions and Responses."""
