"""Events of the Chrome DevTools Protocol, read from the browser's pipe."""
