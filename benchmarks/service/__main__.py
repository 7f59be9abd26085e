"""Measures the service: python -m benchmarks.service --help."""

from __future__ import annotations

import sys

from benchmarks.service.load import main

sys.exit(main())
