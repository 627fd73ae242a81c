"""The user's config file and the folders of Assay."""
