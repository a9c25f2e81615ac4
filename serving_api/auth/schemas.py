"""Bodies of the account routes."""

import re
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from serving_api.framework.openapi import IsoDate, example

MIN_PASSWORD, MAX_PASSWORD = 8, 128
_NAME = re.compile(r"[A-Za-z0-9_.\-\u3400-\u4dbf\u4e00-\u9fff]{3,32}")
"""Of one alphabet and Chinese characters: a letter of another alphabet may look like one of these."""
COMMONEST = 10_000
_MAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+")
_PHONE = re.compile(r"\+?[0-9][0-9 -]{4,30}")


def _username(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("3 to 32 letters (a to z, Chinese), digits, dots, dashes or underscores are allowed")
    return value


def _email(value: str) -> str:
    if not _MAIL.fullmatch(value):
        raise ValueError("is no e-mail address")
    return value


def _phone(value: str) -> str:
    if value and not _PHONE.fullmatch(value):
        raise ValueError("5 to 32 digits, blanks and dashes are allowed")
    return value


@cache
def _commonest_passwords() -> frozenset[str]:
    # 30,000 words in lists by frequency: loaded with the first new password.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415

    return frozenset(word for words in FREQUENCY_LISTS.values() for word in words[:COMMONEST])


def _new_password(value: str) -> str:
    if len(set(value)) < 3:
        raise ValueError("is weak: at least three different characters are needed")
    if value.lower() in _commonest_passwords():
        raise ValueError("is weak: it is one of the commonest passwords")
    return value


Username = Annotated[str, Field(min_length=3, max_length=32), AfterValidator(_username)]
Email = Annotated[str, Field(min_length=3, max_length=128), AfterValidator(_email)]
Phone = Annotated[str, Field(max_length=32), AfterValidator(_phone)]
NewPassword = Annotated[
    str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD), AfterValidator(_new_password)
]
GivenPassword = Annotated[str, Field(max_length=1024)]


class Registration(BaseModel):
    model_config = example(username="reader", email="reader@example.com", password="correct horse")  # noqa: S106
    username: Username
    email: Email
    password: NewPassword

    @model_validator(mode="after")
    def _differs_from_name(self) -> "Registration":
        if self.password.casefold() == self.username.casefold():
            raise ValueError("the password is weak: it equals the user name")
        return self


class Credentials(BaseModel):
    model_config = example(username="reader", password="correct horse")  # noqa: S106
    username: Annotated[str, Field(max_length=128)]
    password: GivenPassword


class ProfileChange(BaseModel):
    """Fields that are given are set; an empty phone is removed."""

    model_config = example(phone="+86 138 0000 0000")
    username: Username | None = None
    email: Email | None = None
    phone: Phone | None = None


class PasswordChange(BaseModel):
    model_config = example(old_password="correct horse", new_password="battery staple")  # noqa: S106
    old_password: GivenPassword
    new_password: NewPassword


class UserSummary(BaseModel):
    """A user, as a login answers with it."""

    id: int
    username: str
    email: str
    role: str
    status: str
    avatar: str | None
    is_activated: bool
    ai_usage_count: int
    ai_usage_date: IsoDate | None


class Quota(BaseModel):
    used: int
    limit: int
    exempt: bool


class Contact(BaseModel):
    email_verified: bool
    phone: str | None
    last_login_at: str | None


class Me(UserSummary, Contact):
    ai_quota: Quota


class Registered(BaseModel):
    id: int
    username: str
    email: str
    role: Literal["user"]
    status: Literal["active"]
    email_verified: Literal[True]
    message: str


class LoggedIn(BaseModel):
    access_token: str
    token_type: Literal["bearer"]
    expires_in: int = Field(description="seconds")
    user: UserSummary


class ProfileChanged(BaseModel):
    user: Me
    message: str


class Message(BaseModel):
    message: str


class PasswordChanged(Message):
    """`access_token` replaces all earlier tokens."""

    access_token: str
    token_type: Literal["bearer"]
    expires_in: int = Field(description="seconds")


class AvatarStored(BaseModel):
    avatar: str = Field(description="URL of the caller's image")
