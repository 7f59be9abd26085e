"""Pages of 2019 and of 2025 loaded over the same networks (docs/protocols/two-years.md)."""
