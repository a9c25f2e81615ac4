"""Is the service able to work, and with which settings?"""
