"""The widgets of the screens; each module is named for what its widgets display."""
