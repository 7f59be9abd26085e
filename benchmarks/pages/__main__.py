"""Measure every page of the service: python -m benchmarks.pages --help."""

from __future__ import annotations

import sys

from benchmarks.pages.loads import main

sys.exit(main())
