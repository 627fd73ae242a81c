"""The matrix of cases and models as plain values: cells, rows, order, figures and sentences; no textual here."""
