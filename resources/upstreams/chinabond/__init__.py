"""The bond depository's site: yield curves of Chinese government bonds."""
