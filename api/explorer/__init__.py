"""The explorer: CDFs, histograms and quantiles of releases, measures and strata side by side, as figures, as
tables and as files, and the months below them."""
