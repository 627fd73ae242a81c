"""The person's config file and the folders Assay uses."""
