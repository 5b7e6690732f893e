"""Planning: a budget in, the best run out.

answer = plan("5.76e23")
answer.N, answer.D, answer.loss
plan(hours_budget(1e4, Machine("H100")), tokens_available="100B")
plan(loss=2.0, inference_tokens="2T", laws="hoffmann")
"""

from explorer.planning.account import (
    ACCOUNTS,
    find_account,
    serving_flops_per_token,
    training_flops_per_token,
)
from explorer.planning.answer import Choice, Opinion, Plan, Reach, Spread
from explorer.planning.budget import (
    UTILISATION,
    Budget,
    Machine,
    flops_budget,
    hours_budget,
    money_budget,
    read_budget,
)
from explorer.planning.candidate import COMPARED, DEFAULT, PUBLISHED, Candidate, fitted, published
from explorer.planning.choices import RULE
from explorer.planning.devices import DEVICES, Device, find_device
from explorer.planning.plan import plan
from explorer.planning.report import report
from explorer.planning.terms import FAMILY, Terms, terms_of

__all__ = [
    "ACCOUNTS",
    "COMPARED",
    "DEFAULT",
    "DEVICES",
    "FAMILY",
    "PUBLISHED",
    "RULE",
    "UTILISATION",
    "Budget",
    "Candidate",
    "Choice",
    "Device",
    "Machine",
    "Opinion",
    "Plan",
    "Reach",
    "Spread",
    "Terms",
    "find_account",
    "find_device",
    "fitted",
    "flops_budget",
    "hours_budget",
    "money_budget",
    "plan",
    "published",
    "read_budget",
    "report",
    "serving_flops_per_token",
    "terms_of",
    "training_flops_per_token",
]
