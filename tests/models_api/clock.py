"""Machine time that a test moves; waits are noted and pass at once."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class Machine:
    """`monotonic` and `sleep` of `language_models`."""

    seconds: float = 1000.0
    waited: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
