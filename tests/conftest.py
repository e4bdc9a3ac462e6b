"""What holds for all tests: none may fail because the machine was busy."""

from hypothesis import settings

settings.register_profile("sudare", deadline=None)
settings.load_profile("sudare")
