"""From recordings of real page loads (HAR files, CDP logs) to recipes: run by hand, once for each new set."""
