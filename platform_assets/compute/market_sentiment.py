"""The market's sentiment score from breadth, limit counts and the main indices. Pure."""

from collections.abc import Sequence

LABELS = ((80.0, "亢奋"), (60.0, "乐观"), (40.0, "中性"), (20.0, "谨慎"))
_LOWEST = "恐慌"


def sentiment_score(
    up: int, down: int, limit_up: int, limit_down: int, index_changes: Sequence[float]
) -> float | None:
    """0..100, two decimals: half from the share of rising stocks, a fifth from that of limit-ups among the
    limits (one half without any), three tenths from the mean change of the main indices (percent, -3 to +3).
    None without a moving stock or an index. Source: quant guide, `sentiment_score`."""
    if up + down == 0 or not index_changes:
        return None
    limits = limit_up / (limit_up + limit_down) if limit_up + limit_down else 0.5
    mean = sum(index_changes) / len(index_changes)
    indices = min(1.0, max(0.0, (mean + 3) / 6))
    return round(100 * (0.5 * up / (up + down) + 0.2 * limits + 0.3 * indices), 2)


def sentiment_label(score: float | None) -> str | None:
    """亢奋 from 80, 乐观 from 60, 中性 from 40, 谨慎 from 20, else 恐慌."""
    if score is None:
        return None
    return next((label for least, label in LABELS if score >= least), _LOWEST)
