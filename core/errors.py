"""The error family of the project. A class names the reaction, not the place.

PlatformError
├── UpstreamError             something outside did not answer as promised
│   ├── Transient             timeout, reset, 429, 5xx, busy: retry with backoff
│   ├── Refused               403, captcha, block page: never retried, opens the breaker
│   │   └── QuotaExhausted    the account behind the key is not paid for, or its quota is used up
│   └── Permanent             404, contract change: no retry, needs a person
│       ├── WrongName         no such model, or no service at this address
│       └── Declined          it will not answer this request, in whatever form
├── PayloadError              an answer that fails validation (truncated, wrong entity, other format)
│   ├── NotServed             an answer without what was asked for: the next source may have it
│   └── WrongUnit             its figures are in another unit
├── Unavailable               our own guard said no (breaker open, cooldown, budget used up): nothing was sent
├── QualityError              parsed data failed a check that forbids writing
├── StorageError              the database refused or is not there
│   ├── DiskFull              it has no room left: a person has to make some
│   ├── Deadlock              it ended our transaction for the sake of another: try it again
│   └── LockLost              a domain lock was taken over: the owner must not write any more
├── ConflictError             somebody else is doing this now (HTTP 409)
├── NotFound                  no such thing (HTTP 404)
├── Forbidden                 not allowed (HTTP 403)
├── InputError                a caller's value is wrong; names the parameter (HTTP 422)
└── DeclarationError          a dataset, setting or task is declared wrongly: fail at start, loudly

"Empty" is neither error nor success; it is a typed result (`resources.fetch_record.Outcome.EMPTY`).
"""


class PlatformError(Exception):
    """Base of every error that this project raises on purpose."""

    def __init__(self, message: str, *, source: str = "", dataset: str = "", fetch_id: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.dataset = dataset
        self.fetch_id = fetch_id

    def __reduce__(self) -> tuple[object, ...]:
        """In another process it is the same error, whatever its class is made with."""
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[PlatformError], args: tuple[object, ...], facts: dict[str, object]) -> PlatformError:
    error = kind.__new__(kind, *args)
    vars(error).update(facts)
    return error


class UpstreamError(PlatformError):
    """An upstream did not answer as promised."""


class Transient(UpstreamError):
    """Timeout, connection reset, 429, 5xx, 'busy': the same request may succeed later."""


class Refused(UpstreamError):
    """403, captcha or block page. Retrying makes it worse, so it is never retried."""


class QuotaExhausted(Refused):
    """The account behind the key is not paid for, or its quota is used up."""


class Permanent(UpstreamError):
    """404 or a changed contract. Only a person can mend it."""


class WrongName(Permanent):
    """It has nothing of this name, or is not what the address was taken for."""


class Declined(Permanent):
    """It will not answer this request, in whatever form."""


class PayloadError(PlatformError):
    """An answer that fails validation: truncated, malformed, wrong instrument, wrong date."""


class NotServed(PayloadError):
    """An answer that has no series of the code, or no file of the date, that was asked for. It is none about
    it: the next source is asked for what is missing."""


class WrongUnit(PayloadError):
    """Figures in another unit (lots for shares, cents for CNY). One such row makes all rows of its answer
    suspect."""


class Unavailable(PlatformError):
    """Our own guard refused before anything was sent: breaker open, host cooling down, budget used up.
    `seconds_left`: after so long it may let a call pass; None when waiting does not help."""

    def __init__(self, message: str, *, seconds_left: float | None = None, **about: str) -> None:
        super().__init__(message, **about)
        self.seconds_left = seconds_left


class QualityError(PlatformError):
    """Parsed data failed a check that forbids the write as a whole."""


class StorageError(PlatformError):
    """The database refused or cannot be reached."""


class DiskFull(StorageError):
    """The disk of the database, or of the data folder, takes no more."""


class MissingTable(StorageError):
    """The database has no such table (yet)."""


class DamagedStorage(StorageError):
    """The file of the database is damaged: what it answers cannot be trusted until it is restored."""


class Deadlock(StorageError):
    """The database ended this transaction because two waited for each other. Nothing of it was changed, so it
    may be tried again as a whole."""


class LockLost(StorageError):
    """The domain lock's token is no longer ours."""


class ConflictError(PlatformError):
    """What this call needs is held by another call."""


class NotFound(PlatformError):
    """There is no such thing."""


class Forbidden(PlatformError):
    """The caller may not do this."""


class InputError(PlatformError):
    """A caller's value is wrong. `parameter` names it."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter}: {problem}")
        self.parameter = parameter
        self.problem = problem


class DeclarationError(PlatformError):
    """A declaration contradicts itself or another one."""
