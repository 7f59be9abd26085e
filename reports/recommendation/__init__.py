"""The recommendation: a rule, its estimates, and the decision."""
