"""Real pages' structure, played on loopback with bytes of our own."""
