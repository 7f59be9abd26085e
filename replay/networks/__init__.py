"""Network profiles, and populations of networks with weights."""
