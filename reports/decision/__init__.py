"""A replay that ends when its answer is known: draws in stages, bounds that hold at every stage,
and the answer so far."""
