"""The telegraph: the responder of its rolling news."""
