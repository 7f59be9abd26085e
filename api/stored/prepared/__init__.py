"""Files that the service makes of each release once,
from which a stratum of items or the rows of a site are read by few seeks."""
