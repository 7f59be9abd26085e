"""Makes the observations of a recorded release from pages that somebody else recorded,
of which facts alone are kept."""
