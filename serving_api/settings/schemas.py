"""Bodies of /settings. Passwords and keys are never returned: `has_password`, `has_key` say whether one is
stored."""

import re
from typing import Annotated, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, model_validator

from serving_api.auth.schemas import Email
from serving_api.framework.openapi import example

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_PROVIDER = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
MOST_PROVIDERS = 20

MenuKey = Literal[
    "/market-center", "/rule-pick", "/factor-pick", "/screener", "/catalyst", "/thesis", "/datamgr"
]
MENU_KEYS: tuple[str, ...] = get_args(MenuKey)


def _host(value: str) -> str:
    if value and not _HOST.fullmatch(value):
        raise ValueError("a host name or an address, without a port")
    return value


def _line(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("one line of text")
    return value


def _line_or_none(value: str | None) -> str | None:
    return None if value is None else _line(value)


def _provider(value: str) -> str:
    if not _PROVIDER.fullmatch(value):
        raise ValueError("1 to 32 of a-z, 0-9, '-' and '_'")
    return value


def _address(value: str) -> str:
    """https, or http to this machine: a key must not be sent unencrypted."""
    parts = urlsplit(value)
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if parts.scheme != "https" and not (parts.scheme == "http" and local):
        raise ValueError("an https address, or http to this machine")
    if not parts.hostname or parts.username or parts.password or parts.fragment:
        raise ValueError("an address without user, password and fragment")
    return value.rstrip("/")


Line = Annotated[str, Field(max_length=512), AfterValidator(_line)]
ProviderName = Annotated[str, AfterValidator(_provider)]


class SmtpConfig(BaseModel):
    host: str
    port: int
    user: str
    from_addr: str
    use_tls: bool = Field(
        description="TLS from the first byte (port 465); false: STARTTLS, never unencrypted"
    )
    has_password: bool
    enabled: bool = Field(description="the master switch in force: environment, else stored, else off")


class SmtpConfigChange(BaseModel):
    model_config = example(
        extra="forbid",
        host="smtp.example.com",
        port=465,
        user="robot",
        password="",
        from_addr="robot@example.com",
        enabled=False,
    )
    host: Annotated[str, Field(max_length=253), AfterValidator(_host)]
    port: Annotated[int, Field(ge=1, le=65535)] = 465
    user: Line = ""
    password: Annotated[
        Line | None, Field(description="empty keeps the stored one, of the same host and port")
    ] = None
    from_addr: Email | Literal[""]
    enabled: bool


class SmtpTest(BaseModel):
    model_config = example(extra="forbid", to="somebody@example.com")
    to: Email


class MailOutcome(BaseModel):
    ok: bool
    message: str
    skipped: bool | None = Field(default=None, description="true when mail is off or not configured")


class SettingsSaved(BaseModel):
    ok: Literal[True]
    message: str


class ModelProvider(BaseModel):
    base_url: str | None
    model: str | None
    has_key: bool


class ModelPreset(BaseModel):
    """A provider whose address is known: a provider stored under this name needs no `base_url`."""

    name: str
    title: str
    base_url: str
    model: str = Field(description="one of its models, as an example")
    needs_key: bool


class ModelTest(BaseModel):
    model_config = example(extra="forbid", provider="deepseek")

    provider: str | None = Field(
        default=None, max_length=32, description="default: the one that is asked first"
    )


class ModelTested(BaseModel):
    ok: bool
    provider: str
    model: str
    message: str = Field(description="what happened, in words")
    reason: str = Field(description="the error, and the provider's own words without keys")
    first_s: float | None = Field(description="seconds until the first part of the answer")
    seconds: float
    calls_tools: bool = Field(description="whether the model called the tool that it was to call")


class ModelConfig(BaseModel):
    providers: dict[str, ModelProvider]
    presets: list[ModelPreset]
    active: str | None = Field(description="the provider that is asked first")
    fallback: list[str] = Field(description="the providers that are asked after it, in this order")


class ModelConfigSaved(ModelConfig):
    ok: Literal[True]


class ModelProviderChange(BaseModel):
    """Fields that are not given, and an empty `api_key`, keep their values; another server needs its key."""

    model_config = example(extra="forbid", base_url="https://api.example.com/v1", model="a-model", api_key="")
    base_url: Annotated[str, Field(max_length=300), AfterValidator(_address)] | None = None
    model: Annotated[Line, Field(max_length=128)] | None = None
    api_key: Annotated[
        str | None,
        Field(max_length=2048, description="one key, or several separated by commas that are used in turn"),
        AfterValidator(_line_or_none),
    ] = None


class ModelConfigChange(BaseModel):
    """Providers are merged key by key; null removes a provider with its key."""

    model_config = example(extra="forbid", providers={"local": {"base_url": "http://127.0.0.1:8080/v1"}})
    providers: Annotated[dict[ProviderName, ModelProviderChange | None], Field(max_length=MOST_PROVIDERS)] = (
        Field(default_factory=dict)
    )
    active: ProviderName | None = None
    fallback: Annotated[list[ProviderName], Field(max_length=MOST_PROVIDERS)] | None = None

    @model_validator(mode="after")
    def _no_provider_twice(self) -> Self:
        if self.fallback is not None and len(set(self.fallback)) != len(self.fallback):
            raise ValueError("fallback names a provider twice")
        return self


class MenuVisibility(BaseModel):
    hide_for_user: list[MenuKey]
    hide_for_admin: list[MenuKey]
    keys: list[MenuKey] = Field(description="all entries that can be hidden")


class MenuVisibilityChange(BaseModel):
    model_config = example(extra="forbid", hide_for_user=["/datamgr"], hide_for_admin=[])
    hide_for_user: Annotated[list[MenuKey], Field(max_length=len(MENU_KEYS))] | None = None
    hide_for_admin: Annotated[list[MenuKey], Field(max_length=len(MENU_KEYS))] | None = None
