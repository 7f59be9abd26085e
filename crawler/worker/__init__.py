"""The worker: claims sites, visits them and writes the visits."""
