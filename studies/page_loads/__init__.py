"""Page loads of the replay, held against loads of the same pages by Chromium over a real path."""
