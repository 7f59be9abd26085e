"""Measures the service: python -m benchmarks.service --help."""

import sys

from benchmarks.service.load import main

sys.exit(main())
