"""The market among others: risk temperature and event chain."""
