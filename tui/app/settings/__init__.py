"""The settings of the config file, and the choice of a theme."""
