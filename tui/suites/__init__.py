"""Suite files in both formats: read, validated, turned into the model."""
