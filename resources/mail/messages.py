"""What the mails say: plain text with an HTML part, nothing loaded from elsewhere."""

from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from html import escape
from zoneinfo import ZoneInfo

_SHANGHAI = ZoneInfo("Asia/Shanghai")
_NAME = "A股研究平台"
_DISCLAIMER = "数据仅供研究参考，不构成投资建议"


def composed(sender: str, to: str, subject: str, paragraphs: list[str], now: datetime) -> EmailMessage:
    """A mail of paragraphs, as text and as HTML. `now`: naive local exchange time."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = format_datetime(now.replace(tzinfo=_SHANGHAI))
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2] or "localhost")
    message["Auto-Submitted"] = "auto-generated"
    lines = [*paragraphs, _DISCLAIMER]
    message.set_content("\n\n".join(lines) + "\n", cte="base64")
    body = "".join(f"<p>{escape(line)}</p>" for line in lines)
    message.add_alternative(f'<html lang="zh-CN"><body>{body}</body></html>', subtype="html", cte="base64")
    return message


def welcome(sender: str, to: str, username: str, now: datetime) -> EmailMessage:
    text = [
        f"{username}，您好：",
        f"您的{_NAME}账号已创建，可以直接登录使用。",
        "如果这不是您本人的操作，请忽略本邮件。",
    ]
    return composed(sender, to, f"欢迎使用{_NAME}", text, now)


def test_mail(sender: str, to: str, now: datetime) -> EmailMessage:
    text = ["这是一封测试邮件。", f"收到它说明邮件设置可用（{now:%Y-%m-%d %H:%M:%S}）。"]
    return composed(sender, to, f"{_NAME}：测试邮件", text, now)


def daily_report(sender: str, day: str, paragraphs: list[str], now: datetime) -> EmailMessage:
    """To the configured sender's own address."""
    return composed(sender, sender, f"{_NAME}：{day} 日报", paragraphs, now)


def recall(sender: str, to: str, username: str, days: int, now: datetime) -> EmailMessage:
    text = [
        f"{username}，您好：",
        f"您已有 {days} 天没有登录{_NAME}，自选股与每日复盘仍在为您更新。",
        "如不想再收到此类邮件，请联系管理员停用账号。",
    ]
    return composed(sender, to, f"{_NAME}：好久不见", text, now)
