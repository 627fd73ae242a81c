"""Running a plan: trials, attempts and steps, reported as events."""
