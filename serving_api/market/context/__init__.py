"""The market in context: risk temperature and event chain."""
