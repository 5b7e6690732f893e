import os

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # as workers train; two threads on busy cores wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

# On a busy computer any example may be slow; pytest's own timeout ends a test that hangs.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
