"""Loading suite files in both formats: parse, validate, and build the model."""
