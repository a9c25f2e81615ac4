"""The portal's pages of one company."""
