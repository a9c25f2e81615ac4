"""The publisher of the terminal: packages of bars, events and reports, from the same world as its servers."""
