"""`python -m platform_assets.documentation`: `make docs`."""

import sys

from platform_assets.documentation.pages import main

if __name__ == "__main__":
    sys.exit(main())
