"""Derives recipes from recordings of real page loads (HAR files, CDP logs); run by hand for each new set."""
