"""What the paper on perturbation printed: the priors of two columns of Adult, and how much of them may be kept."""

from __future__ import annotations

ROUNDED = {
    "income": {"<=50K": 0.759, ">50K": 0.241},
    "relationship": {
        "Husband": 0.405,
        "Not-in-family": 0.255,
        "Own-child": 0.156,
        "Unmarried": 0.106,
        "Wife": 0.048,
        "Other-relative": 0.030,
    },
}
PUBLISHED = [
    # sensitive, k, alpha, gamma, and p by Pk, by alpha, by gamma, by all, each cut after 4 digits
    ("income", 3, 0.8, 0.1, 0.3343, 0.4678, 0.8113, 0.3343),
    ("income", 3, 0.77, 0.22, 0.3343, 0.2476, 0.3397, 0.2476),
    ("income", 5, 0.77, 0.22, 0.3063, 0.2476, 0.3397, 0.2476),
    ("income", 10, 0.77, 0.22, 0.2738, 0.2476, 0.3397, 0.2476),
    ("relationship", 3, 0.5, 0.02, 0.3343, 0.3416, 0.7482, 0.3343),
    ("relationship", 3, 0.47, 0.025, 0.3343, 0.2756, 0.5416, 0.2756),
    ("relationship", 5, 0.47, 0.025, 0.3063, 0.2756, 0.5416, 0.2756),
    ("relationship", 10, 0.47, 0.025, 0.2738, 0.2756, 0.5416, 0.2738),
]
