"""Blind splits (``sensitive: blind``): clusters are split without knowing who has which sensitive value.

The danger
    A method that looks at sensitive values splits as far as these allow. Whoever knows the method, the policy and
    everybody's quasi-identifiers can run it on every assignment of the sensitive values, a *world*, and keep the worlds
    that end in the release that was published. Where a cluster was not split, its parts would have fallen short, and
    that may tell who has which value (the *minimality attack*).

Steps
    1. A cluster's splits are ranked by quasi-identifiers alone, as the method ranks them. Of each it is known how
       likely it is, at most, that a side falls short of a requirement if the cluster's values were dealt out to its
       records at random: F. This depends on the sizes of the sides and on which values the cluster holds, and not on
       who has them (:mod:`sudare.methods.topdown.shortfall`). F is 0 where no side can fall short, regardless
       of who has which value.
    2. One split is chosen: the first with F <= slack / 20, else the one with the least F if that is below the slack.
    3. If its F is 0, it is made. Else it is made if both sides do keep the requirements *and* a coin allows it, which
       is against it with the probability q = F (1 - slack) / (slack (1 - F)). There is no second choice.
    4. A cluster that is not split is a class. Nobody is left out, whatever the policy allows.

Guarantee
    Let an intruder know the method, the policy, all quasi-identifiers, who is in the table and whom each record is
    about. The values of each cluster on the way are those of its classes together. So they are the same in all worlds
    that give the released classes their values, and by induction from the whole table so are the rankings, every F,
    every q and every chosen split. The probability of the release in such a world is a product over clusters. One that
    was split contributes 1 or 1 - q, the same in all these worlds, as the values of both sides are known. A class
    contributes 1 if its chosen split falls short in this world, and q if it was the coin; or 1 if none was chosen.

    *With* ``slack: 0`` *no coin is tossed, all of these worlds are equally likely to end in this release, and knowing
    the method tells nothing*, whatever else the intruder believes.

    *With slack s, whatever is believed of the people of a class is at most s above what the class shows*, if the
    intruder deals its values out to its records at random. Let E be any statement about the class, true with
    probability p in random worlds, let f <= F be the true probability that the split falls short, and w the
    probability that it did, given that the class was not split: w = f / (f + q (1 - f)) <= s by the choice of q, and
    w >= f as q <= 1. Then E is believed with at most w + (1 - w) p / (1 - f) <= s + p. With a limit of alpha on the
    share of a value this is alpha + s. The bound does *not* hold for intruders who believe that the values of a large
    cluster depend on where it would be split: that it was not split confirms them.

    The requirements are kept as ever. What is *not* hidden: that a table could be released at all; and what insensitive
    columns and other releases tell.

Limits
    k-anonymity, l-diversity and (alpha, k)-anonymity alone, as nothing is known here of how likely others fall short.
    Neither item sets that take part in classes, nor ``order: global``, nor ``polish``.

References
    Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing. VLDB 2007.
    Cormode, Li, Li, Srivastava: Minimizing minimality and maximizing utility. VLDB 2010.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import Problem, UnsupportedError
from sudare.core.randomness import Entropy
from sudare.kernels.topdown import sides
from sudare.kernels.topdown import splits as kernel
from sudare.kernels.topdown.value_counts import Counter
from sudare.methods.topdown.frame import Ints, Job, Worker
from sudare.methods.topdown.shortfall import Shortfall
from sudare.models import KAnonymity

EASY = 20
"""The first split is taken whose F is at most such a part of the slack: the coin is then against it once in so many."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Blindness:
    """How much knowledge of the method may reveal, and the source of coins."""

    slack: float
    secret: bytes

    def against(self, failing: Floats) -> Floats:
        """Return the probability that a coin is against splits, by how likely they fall short."""
        if self.slack == 0:
            return np.where(failing > 0, 1.0, 0.0)
        return np.minimum(1.0, failing * (1 - self.slack) / (self.slack * np.maximum(1 - failing, 1e-12)))


def check_blind(sets: bool) -> None:
    """Raise if item sets take part in classes; other limits are checked with the policy."""
    if sets:
        what = "sensitive: blind cannot split item sets that take part in classes."
        hint = "remove the column, or limit it only by km-anonymity."
        raise UnsupportedError(Problem("method.sensitive", what, hint))


def blind_job(slack: float, seed: int | None) -> type[Job]:
    """Return the kind of job that splits without looking."""
    how = Blindness(float(slack), Entropy(seed).words(16).tobytes())
    return type("ChosenBlindJob", (BlindJob,), {"how": how})


def allowed(secret: bytes, clusters: Ints, against: Floats) -> NDArray[np.bool_]:
    """Toss a coin for each cluster, by where it stands: the same on any number of cores."""
    tossed = [
        int.from_bytes(hashlib.blake2b(line.tobytes(), key=secret, digest_size=8).digest()) / 2**64
        for line in np.ascontiguousarray(clusters[:, :2])
    ]
    return np.asarray(np.array(tossed) >= against)


class BlindJob(Job):
    """A table being split without looking at who has which value."""

    how: Blindness

    def worker(self) -> Worker:
        """Return a new worker for this job."""
        return BlindWorker(self)


class BlindWorker(Worker):
    """Splits clusters whose sides hardly fall short, for any assignment of values."""

    job: BlindJob

    def _choose_valid(self, clusters: Ints, batch: slice, chosen: kernel.Splits, only: int, before: Floats) -> None:
        """Choose one split of each cluster by its shape alone, and then see whether it may be made."""
        members, how = clusters[batch], self.job.how
        self._held = {line[0]: self._shortfall(line) for line in members.tolist()}
        super()._choose_valid(clusters, batch, chosen, only, before)
        if how.slack > 0:
            self._choose_least(members, batch, chosen, only)
        owner = np.flatnonzero(chosen.attribute[batch] >= 0)
        picked = kernel.pick(chosen, batch.start + owner)
        failing = self._failing(members, owner, picked)
        risky = np.flatnonzero(failing > 0)
        if len(risky):
            # a coin for each, whatever it holds
            may = allowed(how.secret, members[owner[risky]], how.against(failing[risky]))
            made = may & super()._valid(members, owner[risky], kernel.pick(picked, risky))
            chosen.attribute[batch.start + owner[risky[~made]]] = -1

    def _choose_least(self, members: Ints, batch: slice, chosen: kernel.Splits, only: int) -> None:
        """Choose, for clusters without an easy split, that which falls short least."""
        unsolved = np.flatnonzero(chosen.attribute[batch] < 0)
        if not len(unsolved):
            return
        rest = members[unsolved]
        room = kernel.splits(int(self.job.most_splits(rest[:, 1] - rest[:, 0]).sum()))
        ends = self._score(rest, room, None, only, np.zeros(len(rest)))
        owner = np.repeat(np.arange(len(rest)), np.diff(ends, prepend=0))
        listed = kernel.pick(room, slice(len(owner)))
        failing = self._failing(rest, owner, listed)
        order = np.lexsort((listed.score, failing, owner))  # stable: the first of equal scores comes first
        order = order[failing[order] < self.job.how.slack]
        found, first = np.unique(owner[order], return_index=True)
        kernel.overwrite(chosen, batch.start + unsolved[found], kernel.pick(listed, order[first]))

    def _valid(self, members: Ints, owner: Ints, tried: kernel.Splits) -> NDArray[np.bool_]:
        """Return which splits fall short hardly ever, or never."""
        return np.asarray(self._failing(members, owner, tried) <= self.job.how.slack / EASY)

    def _failing(self, members: Ints, owner: Ints, tried: kernel.Splits) -> Floats:
        """Return how likely a side of each split falls short, at most; 1 where there are too few people."""
        job = self.job
        failing = np.zeros(len(owner))
        order = np.argsort(owner, kind="stable")
        begin = np.searchsorted(owner[order], np.arange(len(members) + 1))
        for line, (first, last) in enumerate(zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True)):
            if first < last:
                own = order[first:last]
                failing[own] = self._held[int(members[line, 0])].of_splits(tried.left[own])
        if job.requirements.counts_subjects and len(owner):
            # who is in the table is no secret of this
            people, _, _ = sides.tally_sides(
                job.atoms, job.extra[:, len(job.tallied)], members[owner], tried,
                job.mode == kernel.MEDIAN, job.axes, self.buffers, Counter(self.counts[-1], listing=False),
            )  # fmt: skip
            least = max(m.k for m in job.requirements.models if isinstance(m, KAnonymity) and m.count == "subjects")
            failing[people.reshape(-1, 2).min(axis=1) < least] = 1.0
        return failing

    def _shortfall(self, line: list[int]) -> Shortfall:
        """Return how likely parts of a cluster fall short."""
        job = self.job
        first, last = line[0], line[1]
        held = {}
        for index, name in enumerate(job.requirements.columns):
            codes, own = np.unique(job.extra[first:last, 1 + index], return_inverse=True)
            counts = np.bincount(own, job.amounts[first:last]).astype(np.int64)
            held[name] = codes.astype(np.int64), counts, job.tallied[index]
        return Shortfall(job.requirements, line[3], held)
