"""The screens; the only home of textual."""
