"""Causes of the losses of 2010: which mixture of lines meets its web search."""
