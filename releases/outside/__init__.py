"""Series that others counted, as HTTP Archive's weights of pages: kept apart from releases,
and never joined to them."""
