"""Faults that are told to people: one sentence that says what was given, what was expected, what to do."""


class ExplorerError(Exception):
    """A fault whose message is meant to be read by a person, without a traceback."""


class BadInput(ExplorerError, ValueError):
    """A value, name or file that cannot be used."""


class StoreError(ExplorerError):
    """The store of runs cannot be opened, read or written."""


class Diverged(ExplorerError, ArithmeticError):
    """Training left the finite numbers."""
