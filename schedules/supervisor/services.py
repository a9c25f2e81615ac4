"""`python -m schedules.supervisor.services [--print]`: installs and starts what `make cluster` needs and does
not find, by the package manager of the distribution. `--print` shows the commands and runs none.

Only servers on loopback are installed, and only those at whose port nothing answers.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from schedules.supervisor import topology
from schedules.supervisor.process_plan import accepts
from schedules.supervisor.topology import Part

PACKAGES: Mapping[str, tuple[Sequence[str], Mapping[str, str]]] = {
    "apt-get": (
        ("apt-get", "install", "-y"),
        {"mariadb": "mariadb-server", "postgres": "postgresql", "rabbitmq": "rabbitmq-server"},
    ),
    "dnf": (
        ("dnf", "install", "-y"),
        {"mariadb": "mariadb-server", "postgres": "postgresql-server", "rabbitmq": "rabbitmq-server"},
    ),
    "brew": (
        ("brew", "install"),
        {"mariadb": "mariadb", "postgres": "postgresql@17", "rabbitmq": "rabbitmq"},
    ),
}
"""Package manager -> how it installs, and the package of each service."""
UNITS = {"mariadb": "mariadb", "postgres": "postgresql", "rabbitmq": "rabbitmq-server"}
Which = Callable[[str], str | None]


def commands(absent: Sequence[Part], which: Which = shutil.which) -> list[list[str]]:
    """The commands that bring up the absent services; none without a package manager that is known."""
    manager = next((name for name in PACKAGES if which(name)), None)
    if manager is None or not absent:
        return []
    install, packages = PACKAGES[manager]
    found = [[*install, *(packages[part.name] for part in absent)]]
    for part in absent:
        if manager == "brew":
            found.append(["brew", "services", "start", packages[part.name]])
        elif which("systemctl"):
            found.append(["systemctl", "enable", "--now", UNITS[part.name]])
        else:
            found.append(["service", UNITS[part.name], "start"])
    return found


def main(arguments: Sequence[str]) -> int:
    absent = [part for part in topology.SERVICES if not accepts(part.port)]
    if not absent:
        sys.stdout.write("mariadb, postgres and rabbitmq answer on loopback\n")
        return 0
    planned = commands(absent)
    if not planned:
        names = ", ".join(part.name for part in absent)
        sys.stderr.write(f"{names}: not there, and none of {', '.join(PACKAGES)} is\n")
        return 1
    for command in planned:
        sys.stdout.write(" ".join(command) + "\n")
        sys.stdout.flush()
        if "--print" in arguments:
            continue
        done = subprocess.run(command, check=False)  # noqa: S603  listed above
        if done.returncode:
            sys.stderr.write(f"{command[0]} ended with {done.returncode}; it may need root\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
