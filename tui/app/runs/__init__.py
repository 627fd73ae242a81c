"""The list of saved runs, and the export of one as a report."""
