"""Statistics as pure functions of numbers and names, independent of all other packages. Only they import numpy."""
