"""Made-up worlds whose truth is known, played through the engine as a replay in stages runs."""
