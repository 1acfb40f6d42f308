"""Pictures and pages of a network."""
