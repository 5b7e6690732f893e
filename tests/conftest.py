from hypothesis import settings

# On a busy computer any example may be slow; pytest's own timeout ends a test that hangs.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
