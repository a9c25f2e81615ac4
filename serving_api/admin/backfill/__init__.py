"""Loading of past trade dates on request."""
