"""What an installation holds nothing of: tables, freshness dimensions, interfaces and read routes, looked at
from outside. `python -m serving_api.inspection` asks the running API."""
