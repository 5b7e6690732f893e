"""The app: pages over a lab, served on this computer."""

from explorer.app.server import serve

__all__ = ["serve"]
