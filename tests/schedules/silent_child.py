"""A child that beats by making its file longer, until it is told how to fall silent."""

import sys
import threading
import time
from pathlib import Path


def hang_in_a_lock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def spin() -> None:
    while True:
        pass


def main() -> None:
    beats, how = Path(sys.argv[1]), Path(sys.argv[2])
    while True:
        with beats.open("a") as file:
            file.write(".")
        if how.exists():
            how.unlink()
            {"lock": hang_in_a_lock, "spin": spin}[sys.argv[3]]()
        time.sleep(0.01)


if __name__ == "__main__":
    main()
