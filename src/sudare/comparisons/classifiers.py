"""Classifiers that learn from a release, and are tested on records outside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.comparisons import features
from sudare.comparisons.configurations import Configuration
from sudare.comparisons.folds import Split
from sudare.core.errors import MissingExtraError, PolicyUnmetError, SudareError, UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.metrics import METRICS, Information, information
from sudare.models import Requirements
from sudare.table import Column, Table, find_atoms, generalize, merge_alike

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
CLASSIFIERS = ("decision tree", "logistic regression", "gradient boosting")
BASELINES = ("raw", "majority", "no quasi-identifiers")


@dataclass(frozen=True)
class Score:
    """Means over the folds, with their standard errors; None with one fold, or if a fold lacks a class (AUC).

    The folds share training records, so that the standard errors are rather too small.
    """

    accuracy: float
    accuracy_error: float | None
    auc: float | None
    auc_error: float | None


@dataclass(frozen=True)
class Outcome:
    """The outcome of one configuration: scores by classifier, and figures of its releases, as means over the folds.

    ``records`` are the training records. If ``problem`` says why there is no release, there are no figures.
    """

    name: str
    method: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, Score] = field(default_factory=dict)
    records: float | None = None
    class_info: float | None = None
    split_info: float | None = None
    table_info: float | None = None
    gcp: float | None = None
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Lesson:
    """The lesson of one fold: features of training and test records, and which records were kept."""

    training: Reals
    test: Reals
    kept: Ints
    told: Information
    gcp: float


def check_installed() -> None:
    """Raise if scikit-learn is not there."""
    try:
        import sklearn  # noqa: F401
    except ModuleNotFoundError:
        what = "comparing methods needs scikit-learn, which is not installed."
        raise MissingExtraError(what, hint="pip install scikit-learn") from None


def classifiers() -> dict[str, Any]:
    """Return the three classifiers, untrained; they draw nothing, or always the same."""
    check_installed()
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    models = (
        # a leaf of one record repeats its noise; the majority of twenty seldom does, and boosting has the same limit
        DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
        # the library's penalty, which needs columns of one scale; rounds enough that it never stops before it converges
        make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=1000)),
        # the library's own rate and rounds (0.1, 100); without early stopping, which would set a drawn part aside
        HistGradientBoostingClassifier(learning_rate=0.1, max_iter=100, early_stopping=False, random_state=0),
    )
    return dict(zip(CLASSIFIERS, models, strict=True))


def evaluate(
    table: Table,
    requirements: Requirements,
    configs: Sequence[Configuration],
    splits: Sequence[Split],
    *,
    baselines: bool = True,
    w: float = 0.98,
    seed: int = 0,
    progress: Listener | None = None,
) -> list[Outcome]:
    """Make a release of the training records of each split, for each configuration, and train classifiers on it.

    The table needs a target. A configuration that cannot keep the requirements, or is refused, is reported with the
    message. The baselines are: training on the original records, always the most frequent class, and training on the
    unchanged columns alone. ``w`` weighs the table's information, ``seed`` is for the values that stand for cells of
    local recoding.
    """
    listener = progress or silent
    if table.sets:
        what = f"classifiers cannot learn from item sets; got {', '.join(map(repr, table.sets))}."
        raise UnsupportedError(what, hint="remove the column from the policy.")
    check_installed()
    school = _School(table, requirements, splits, w, seed)
    total = len(splits) * (len(configs) + len(BASELINES) * baselines)
    outcomes: list[Outcome] = []

    def tell(done: int) -> None:
        listener("compare", len(outcomes) * len(splits) + done, total)

    tell(0)
    if baselines:
        for name, lesson in zip(BASELINES, (school.raw, school.nothing, school.without), strict=True):
            outcomes.append(school.outcome(Outcome(name), lesson, tell))
    for config in configs:
        blank = Outcome(config.name, config.method, dict(config.options))
        try:
            outcomes.append(school.outcome(blank, school.released(config), tell))
        except SudareError as error:
            outcomes.append(replace(blank, problem=str(error)))
        tell(0)
    return outcomes


class _School:
    """A table and its splits, and the lessons that can be had from them."""

    def __init__(self, table: Table, requirements: Requirements, splits: Sequence[Split], w: float, seed: int) -> None:
        assert table.target is not None  # the caller has checked it
        self.table, self.requirements, self.splits, self.w, self.seed = table, requirements, splits, w, seed
        self.target: Column = table.target
        self.others = features.others(table)

    def raw(self, fold: int) -> Lesson:
        """Return the original records."""
        training, test = self.splits[fold]
        quasi = list(self.table.single.values())
        atoms = find_atoms(
            [column.codes[training] for column in quasi], [column.size for column in quasi], len(training)
        )
        groups = np.arange(len(training)) if atoms is None else atoms.of_row
        pair = features.raw([*quasi, *self.others], training, test)
        return Lesson(*pair, np.arange(len(training)), self._told(training, groups), 0.0)

    def without(self, fold: int) -> Lesson:
        """Return only the unchanged columns."""
        training, test = self.splits[fold]
        return self._one_group(fold, features.raw(self.others, training, test))

    def nothing(self, fold: int) -> Lesson:
        """Return no column at all."""
        training, test = self.splits[fold]
        return self._one_group(fold, features.joined((), len(training), len(test)))

    def _one_group(self, fold: int, pair: features.Pair) -> Lesson:
        training = self.splits[fold][0]
        groups = np.zeros(len(training), dtype=np.int64)
        return Lesson(*pair, np.arange(len(training)), self._told(training, groups), 1.0)

    def released(self, config: Configuration) -> Callable[[int], Lesson]:
        """Return the lessons of a configuration."""
        return lambda fold: self._released(config, fold)

    def _released(self, config: Configuration, fold: int) -> Lesson:
        training, test = self.splits[fold]
        table = self.table.taken(training)
        partition = config.decide(table, self.requirements, self.seed)
        shown = generalize(table, partition)
        kept = features.kept(shown)
        if not len(kept):
            raise PolicyUnmetError("the release shows nothing to learn from.")
        generator = np.random.default_rng([self.seed, fold])
        quasi = features.released(self.table, shown, training, test, generator)
        rest = features.raw(self.others, training[kept], test)
        groups = np.full(len(training), -1, dtype=np.int64)
        groups[kept] = merge_alike(partition, shown).classes[kept]
        pair = features.joined((quasi, rest), len(kept), len(test))
        return Lesson(*pair, kept, self._told(training, groups), METRICS["gcp"](shown).total)

    def _told(self, training: Ints, groups: NDArray[Any]) -> Information:
        return information(groups, replace(self.target, codes=self.target.codes[training]))

    def outcome(self, blank: Outcome, lesson_of: Callable[[int], Lesson], tell: Callable[[int], None]) -> Outcome:
        """Train on all lessons of a configuration, and predict the test records."""
        lessons: list[Lesson] = []
        found: dict[str, list[tuple[float, float | None]]] = {name: [] for name in CLASSIFIERS}
        for fold, (training, test) in enumerate(self.splits):
            lesson = lesson_of(fold)
            known, asked = self.target.codes[training[lesson.kept]], self.target.codes[test]
            for name, answer in answers(lesson, known, self.target.size):
                found[name].append(marks(answer, asked))
            # the features are not needed any more, and large
            lessons.append(replace(lesson, training=np.empty((0, 0)), test=np.empty((0, 0))))
            tell(fold + 1)
        return replace(
            blank,
            scores={name: _score(each) for name, each in found.items()},
            records=float(np.mean([len(lesson.kept) for lesson in lessons])),
            class_info=float(np.mean([lesson.told.class_info for lesson in lessons])),
            split_info=float(np.mean([lesson.told.split_info for lesson in lessons])),
            table_info=float(np.mean([lesson.told.table_info(self.w) for lesson in lessons])),
            gcp=float(np.mean([lesson.gcp for lesson in lessons])),
        )


def answers(lesson: Lesson, known: NDArray[np.integer[Any]], classes: int) -> Iterator[tuple[str, Reals]]:
    """Yield, for each classifier, how likely it finds each class for each test record."""
    from threadpoolctl import threadpool_limits  # which scikit-learn itself depends on

    for name, model in classifiers().items():
        chances = np.zeros((len(lesson.test), classes))
        there, counts = np.unique(known, return_counts=True)
        if lesson.training.shape[1] == 0 or len(there) < 2:
            chances[:, there] = counts / counts.sum()  # there is nothing to learn but how frequent the classes are
        else:
            # threads of boosting wait for each other: where others need a core, two take many times as long as one
            with threadpool_limits(1):
                model.fit(lesson.training, known)
                chances[:, model.classes_] = model.predict_proba(lesson.test)
        yield name, chances


def marks(chances: Reals, asked: NDArray[np.integer[Any]]) -> tuple[float, float | None]:
    """Return the accuracy and the AUC of some answers: of two classes as usual, else the mean of each against the rest.

    There is no AUC if a class has no test record.
    """
    from sklearn.metrics import roc_auc_score

    accuracy = float(np.mean(chances.argmax(axis=1) == asked))
    classes = chances.shape[1]
    if len(np.unique(asked)) < classes:
        return accuracy, None
    judged = range(1, 2) if classes == 2 else range(classes)
    return accuracy, float(np.mean([roc_auc_score(asked == code, chances[:, code]) for code in judged]))


def _score(found: Sequence[tuple[float, float | None]]) -> Score:
    areas = [area for _, area in found if area is not None]
    complete = len(areas) == len(found)
    accuracies = [accuracy for accuracy, _ in found]
    return Score(
        float(np.mean(accuracies)),
        _error(accuracies),
        float(np.mean(areas)) if complete else None,
        _error(areas) if complete else None,
    )


def _error(figures: Sequence[float]) -> float | None:
    return None if len(figures) < 2 else float(np.std(figures, ddof=1) / np.sqrt(len(figures)))
