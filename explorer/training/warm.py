"""Loaded once in the process that workers are forked from: the modules and the text that most trials begin with."""

from contextlib import suppress

from explorer.errors import BadInput
from explorer.training import decoder, ladder, residual_mlp  # noqa: F401
from explorer.training.corpus import load_corpus

with suppress(BadInput):  # a Python without its source; the trial says so when it is asked for
    load_corpus("code")
    load_corpus("prose")
