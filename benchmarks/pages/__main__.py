"""Measure every page of the service: python -m benchmarks.pages --help."""

import sys

from benchmarks.pages.loads import main

sys.exit(main())
