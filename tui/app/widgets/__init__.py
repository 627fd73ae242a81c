"""What the screens are made of; each widget is named for what it shows."""
