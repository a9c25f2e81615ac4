"""`python -m schedules.supervisor`: what `make run` starts."""

import sys


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036  said in words before an import fails with a traceback
        sys.stderr.write(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}\n")
        return 1
    from schedules.supervisor.app import run  # noqa: PLC0415  after the check of the version

    return run()


if __name__ == "__main__":
    sys.exit(main())
