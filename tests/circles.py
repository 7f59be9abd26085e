"""Two circles of tests: what every change runs, and the larger samples that
`scripts/test --all` runs as well."""

import os

ALL = bool(os.environ.get("FIRSTFLIGHT_TEST_ALL"))
"""Whether tests take their whole sample."""
