"""Baseline: tables come from the declarations, so the first revision changes no data."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing stored needs changing yet; later revisions build on this one."""


def downgrade() -> None:
    """The baseline has nothing before it."""
