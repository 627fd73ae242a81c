"""Review: people score the risk of answers, criterion by criterion, blind on request."""
