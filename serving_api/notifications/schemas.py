"""Bodies of /notifications."""

from typing import Literal

from pydantic import BaseModel, Field


class NotificationItem(BaseModel):
    id: str = Field(description="day and number, e.g. 20261123-4")
    kind: str = Field(description="portfolio_alert, task_failed, ...")
    title: str
    content: str
    code: str | None = Field(description="the stock that it is about")
    link: str | None = Field(description="link to details, below this API or in the Dagster UI")
    created_at: str
    read: bool


class UnreadNotifications(BaseModel):
    items: list[NotificationItem] = Field(description="newest first, at most 100")
    count: int = Field(description="all unread ones")


class NotificationPage(BaseModel):
    items: list[NotificationItem]
    total: int
    page: int
    page_size: int


class NotificationRead(BaseModel):
    ok: Literal[True]
    id: str


class NotificationsRead(BaseModel):
    ok: Literal[True]
    updated: int = Field(description="how many were unread")
