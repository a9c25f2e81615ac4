"""An interactive bash on a terminal of its own, which the tests type into."""

import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path
from types import TracebackType

LIMIT_S = 60.0


class InteractiveBash:
    """`with InteractiveBash(folder) as bash`; `ashare` is that of this Python's environment."""

    def __init__(self, folder: Path) -> None:
        self._env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "TERM": "dumb",
            "INPUTRC": str(folder / "inputrc"),
        }
        # No bell, no folding of long lines.
        (folder / "inputrc").write_text("set bell-style none\nset horizontal-scroll-mode off\n")

    def __enter__(self) -> "InteractiveBash":
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], self._env)
        self._number = 0
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        os.close(self._terminal)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def enter(self, line: str) -> None:
        """Carry out a line."""
        self._type(f"{line}\n")
        self.completed("")

    def completed(self, begun: str) -> str:
        """The line after a tab, without the space at its end."""
        self._number += 1
        # The line becomes the argument of an `echo`. Its marks are sums, so that they are not in what the
        # terminal shows of the typing.
        mark = f"$((1000+{self._number}))"
        self._type(f'{begun}\t\x01echo "[{mark}|\x05|{mark}]"\n' if begun else f'echo "[{mark}||{mark}]"\n')
        shown = re.compile(rf"\[{1000 + self._number}\|(.*?)\|{1000 + self._number}\]")
        said = ""
        end = time.monotonic() + LIMIT_S
        while not (found := shown.search(said)):
            if time.monotonic() > end:
                raise TimeoutError(f"bash said {said!r}")
            if select.select([self._terminal], [], [], 0.2)[0]:
                said += os.read(self._terminal, 65536).decode(errors="replace")
        return found[1].rstrip()

    def _type(self, text: str) -> None:
        os.write(self._terminal, text.encode())
