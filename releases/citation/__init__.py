"""Citations of releases, measures, reports and figures in the forms that reference managers read."""
