"""From a file to a network in a browser, without writing code: a server on this computer and its page."""
