"""Go to a case or suite by its name, and search the saved answers."""
