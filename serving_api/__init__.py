"""The HTTP side of the platform: thin routes over the warehouse's reads, accounts, envelope and limits."""
