"""Scaling Explorer: predicted loss curves beside really trained tiny models."""
