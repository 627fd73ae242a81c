"""Other programs, started so that nothing of them is left: agents, servers, clones and commands all begin here."""
