"""What assigned protocols, connections and initiators do to the answer, on pages that know them."""
