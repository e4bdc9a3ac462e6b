"""Long trials of what sudare promises: many generated cases of one kind, of which none may break the promise.

Each module here is one trial. It has ``TITLE`` (what is tried, in a few words), ``FULL`` and ``REDUCED`` (how many
cases ``make soak`` and ``make test`` try), and ``case(number)``, which tries one case, returns its outcome in a word or
two, and raises AssertionError if the promise is broken. A case depends on its number alone, so that a trial can be
stopped and resumed, and a case that failed can be tried again. ``__main__`` runs the trials.
"""
