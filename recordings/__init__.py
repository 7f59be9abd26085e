"""Recordings of page loads by others, HAR files and CDP logs: what crossed the network, in the order of asking."""
