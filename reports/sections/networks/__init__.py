"""Sections that tell the networks of a replay apart: by their quantities, and by country."""
