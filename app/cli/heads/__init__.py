"""`specchat heads`: make, train and measure the heads that draft for a target."""

from app.cli.heads.commands import heads

__all__ = ["heads"]
