"""Networks of the replay: profiles, and populations of networks with weights."""
