"""Starting other programs (agents, servers, clones, commands) under a guard that ends all their processes."""
