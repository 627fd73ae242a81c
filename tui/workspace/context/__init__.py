"""Choose and describe the files that go with a prompt."""
