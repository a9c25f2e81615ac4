"""Hands one mail to an SMTP server, over TLS only."""

import smtplib
import ssl
from email import policy
from email.message import EmailMessage

from core.errors import PlatformError
from resources.mail.settings import MailSettings

TIMEOUT_S = 10.0
SMTP_LINES = policy.SMTP
"""Lines end in CRLF, headers are folded."""


class MailError(PlatformError):
    """The mail was not accepted; the message says at which step, without any of the server's own words that
    could carry an address or a password."""


class MailUnknown(MailError):
    """The connection ended after the mail was handed over and before the server said yes: it may have been
    accepted, so it is not sent again."""


def send(settings: MailSettings, message: EmailMessage, *, timeout_s: float = TIMEOUT_S) -> None:
    """Blocking. Raises MailError; a mail that the server accepted raises nothing, whatever comes after."""
    if settings.missing:
        raise MailError(settings.missing)
    server = _connected(settings, timeout_s)
    try:
        _logged_in(server, settings)
        _handed_over(server, message)
    finally:
        server.close()


def _connected(settings: MailSettings, timeout_s: float) -> smtplib.SMTP:
    at = f"{settings.host}:{settings.port}"
    server: smtplib.SMTP | None = None
    try:
        context = ssl.create_default_context()
        if settings.implicit_tls:
            return smtplib.SMTP_SSL(settings.host, settings.port, timeout=timeout_s, context=context)
        server = smtplib.SMTP(settings.host, settings.port, timeout=timeout_s)
        server.starttls(context=context)
    except ssl.SSLCertVerificationError as error:
        _closed(server)
        raise MailError(f"the certificate of {at} is not valid: {error.verify_message}") from error
    except smtplib.SMTPNotSupportedError as error:
        _closed(server)
        raise MailError(f"{at} offers no STARTTLS, and nothing is sent in clear") from error
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
        _closed(server)
        # The library turns a timeout while it waits for a reply into "disconnected".
        if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):
            raise MailError(f"{at} did not answer within {timeout_s:g} s") from error
        raise MailError(f"{at} cannot be reached ({type(error).__name__})") from error
    return server


def _closed(server: smtplib.SMTP | None) -> None:
    if server is not None:
        server.close()


def _logged_in(server: smtplib.SMTP, settings: MailSettings) -> None:
    if not settings.user:
        return
    try:
        server.login(settings.user, settings.password)
    except smtplib.SMTPAuthenticationError as error:
        raise MailError(f"the server refused the login ({error.smtp_code})") from error
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
        raise MailError(f"the login failed ({type(error).__name__})") from error


def _handed_over(server: smtplib.SMTP, message: EmailMessage) -> None:
    """Envelope and body, step by step: after the body's last byte a lost answer means "perhaps"."""
    try:
        server.ehlo_or_helo_if_needed()
        _expect(server.mail(str(message["From"])), "the sender")
        _expect(server.rcpt(str(message["To"])), "the recipient")
    except (OSError, smtplib.SMTPException) as error:
        raise MailError(
            f"the server closed the connection before the mail ({type(error).__name__})"
        ) from error
    try:
        _expect(server.data(message.as_bytes(policy=SMTP_LINES)), "the mail")
    except smtplib.SMTPDataError as error:
        raise MailError(f"the server refused the mail ({error.smtp_code})") from error
    except (OSError, smtplib.SMTPException) as error:
        raise MailUnknown("the server did not say whether it took the mail") from error


def _expect(answer: tuple[int, bytes], what: str) -> None:
    code = answer[0]
    if not 200 <= code < 300:
        raise MailError(f"the server refused {what} ({code})")
