"""Events of the Chrome DevTools Protocol, heard on the browser's pipe."""
