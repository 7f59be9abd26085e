"""The worker: claims sites from the queue, visits them and writes what was seen."""
