"""The OpenAI protocols: Chat Completions and Responses."""
