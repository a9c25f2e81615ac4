"""The ten tools that models and other programs call: typed arguments, structured answers, receipts."""
