"""`python -m ashare`."""

import sys

from ashare.main import main

if __name__ == "__main__":
    sys.exit(main())
