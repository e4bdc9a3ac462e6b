"""Drafts of policies, from the columns of a table: a start that a person must read line by line.

    facts (what a column holds) + words (what its name says)  ->  guesses (roles)  ->  writing (commented YAML)

The draft is careful: it never guesses that a column is insensitive, never releases a column that looks like an
identifier, and treats an unclear column as known to an intruder. The text contains no value of a person.
"""

from sudare.drafts.draft_text import draft_policy

__all__ = ["draft_policy"]
