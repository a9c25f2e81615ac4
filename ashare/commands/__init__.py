"""One module per command; `ashare.main` loads a module when its command is called."""
