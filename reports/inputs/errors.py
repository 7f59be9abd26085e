"""What is wrong with the inputs of a report."""


class ReportError(Exception):
    """A report cannot be built; the message names the command that helps."""
