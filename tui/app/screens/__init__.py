"""The places of the app, and what pops up over them."""
