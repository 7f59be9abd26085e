"""The back-cast: the 2010 paper's experiment repeated in the lab,
to hold the instrument against what production saw."""
