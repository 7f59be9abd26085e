"""Samples of a release: items of a measure by stratum,
and statistics of them with confidence intervals over sites."""
