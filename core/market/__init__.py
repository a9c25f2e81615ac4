"""Rules of the mainland exchanges, securities and their symbols, and bars of many codes."""
