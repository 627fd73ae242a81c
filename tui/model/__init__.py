"""The shared vocabulary: frozen values that every other part speaks in; standard library and pydantic only."""
