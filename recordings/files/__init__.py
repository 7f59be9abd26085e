"""Makes the observations of a recorded release from HAR files and logs of DevTools events."""
