"""Drafting a policy by looking at the columns of a table: a start for somebody who then reads every line.

    facts (what a column holds) + words (what its name says)  ->  guesses (roles)  ->  writing (commented YAML)

The draft errs on the careful side: nothing is ever guessed to be insensitive, whatever looks like an identifier is
never released, and what cannot be told is treated as known to an intruder. No value of a person is in the text.
"""

from sudare.drafts.draft_text import draft_policy

__all__ = ["draft_policy"]
