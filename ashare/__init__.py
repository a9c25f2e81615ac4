"""The command line `ashare`: each command is a thin call of what the platform and its API do."""
