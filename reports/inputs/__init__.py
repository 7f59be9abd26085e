"""The inputs of a report: a release, the replays of its pages, and earlier reports,
read and checked to belong together."""
