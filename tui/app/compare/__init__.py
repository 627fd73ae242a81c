"""Two answers beside each other: what differs, which cases there are to walk through, what is said of them."""
