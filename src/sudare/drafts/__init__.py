"""Drafts of policies, from the columns of a table: a start that a person must read line by line.

    facts (what a column holds) + words (what its name says)  ->  guesses (roles, column by column)
    guesses + duplicated columns + identifying power          ->  proposals (what is done with each, seen together)
    proposals + a preset                                      ->  proposals for a purpose, with transformations
    proposals                                                 ->  draft text (commented YAML), explanation (a table)

The draft is careful: it never guesses that a column is insensitive, never releases a column that looks like an
identifier, and treats an unclear column as known to an intruder, or leaves it out where there are too many. The text
contains no value of a person.
"""

from sudare.drafts.draft_text import draft_policy, draft_with_questions
from sudare.drafts.explanation import ColumnExplanation, Explanation, explain_policy
from sudare.drafts.open_questions import OpenQuestions
from sudare.drafts.presets import PRESETS, find_preset
from sudare.drafts.source_notes import SourceNotes

__all__ = [
    "PRESETS",
    "ColumnExplanation",
    "Explanation",
    "OpenQuestions",
    "SourceNotes",
    "draft_policy",
    "draft_with_questions",
    "explain_policy",
    "find_preset",
]
