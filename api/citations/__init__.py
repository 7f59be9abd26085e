"""Citations, and the pages of measures and figures that they lead to."""
