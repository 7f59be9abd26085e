"""Lists of sites, and sites that are left out."""
