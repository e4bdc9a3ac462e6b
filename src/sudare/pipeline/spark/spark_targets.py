"""Targets of a release by Spark: a folder of Parquet files, a table, or a DataFrame for the caller."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from sudare.core.errors import Problem, TargetError, UnsupportedError
from sudare.engines import CERTIFICATE, Place, Remote, parse_certificate, read_certificate
from sudare.engines.spark.spark import Spark, beside, is_path, is_spark
from sudare.engines.spark.spark_folders import Folders
from sudare.pipeline.request import Request
from sudare.releases import PAPER, certificate_path, check_folder, place_folder, private_folder
from sudare.releases.certificate import Certificate


class SparkTarget(Protocol):
    """The operations of a target."""

    where: str

    def stash(self, frame: Any, name: str) -> Any:
        """Store rows beside the release for as long as it takes to make it; return them as read back."""

    def previous(self) -> Mapping[str, Any] | None:
        """Return the certificate of the release that this one replaces, if only Spark can read it."""

    def write(self, frame: Any) -> Any:
        """Write the rows under a temporary name; return them as read back."""

    def place(self, certificate: Certificate) -> Any:
        """Place the rows and the certificate; return the rows if they go to the caller."""


class FolderTarget:
    """A folder of Parquet files, written in a private folder beside its place."""

    def __init__(self, spark: Spark, path: Path, folder: Path) -> None:
        self.spark, self.path, self.folder = spark, path, folder
        self.where = str(path)
        self.written = folder / "release.parquet"

    def begin(self) -> Path:
        """Return the folder that executors write to, which is there."""
        self.written.mkdir()
        return self.written.absolute()

    def previous(self) -> None:
        """Return nothing: the certificate is a file."""
        return

    def stash(self, frame: Any, name: str) -> Any:
        """Store rows in the private folder."""
        place = self.folder.absolute() / f"{name}.parquet"
        self.spark.write(frame, place)
        return self.spark.open(str(place))

    def write(self, frame: Any) -> Any:
        """Open what was written; rows that were not are written by Spark."""
        if frame is not None:
            self.spark.write(frame, self.written)
        for path in self.written.glob(".*"):  # an executor that was lost had begun these
            path.unlink(missing_ok=True)
        return self.spark.open(str(self.written))

    def place(self, certificate: Certificate) -> None:
        """Rename the folder, with the certificate beside it."""
        place_folder(self.written, self.path, certificate.to_dict())


class TableTarget:
    """A table of Spark, made under a name that nobody has, and renamed; its certificate is a table beside it.

    Spark writes the files of a table before it looks whether its catalog takes the name, and leaves them there. It
    renames nothing to such a name.
    """

    def __init__(self, spark: Spark, name: str) -> None:
        self.spark, self.name, self.where = spark, name, name
        self.paper = beside(name, CERTIFICATE)
        self.draft, self.noted = (beside(name, f"=sudare_tmp_{secrets.token_hex(8)}") for _ in range(2))
        self.stashed: list[str] = []
        hint = "choose another name for the release."
        older = spark.noted(self.paper)
        if older is not None and parse_certificate(older) is None:
            raise TargetError(Problem(self.paper, "exists already, and is not the certificate of a release.", hint))
        if older is None and spark.exists(name):
            raise TargetError(Problem(name, "exists already, and is not a release.", hint))

    def previous(self) -> Mapping[str, Any] | None:
        """Return the certificate in the table beside the older release."""
        noted = self.spark.noted(self.paper)
        return None if noted is None else parse_certificate(noted)

    def stash(self, frame: Any, name: str) -> Any:
        """Store rows in a table."""
        self.stashed.append(beside(self.name, f"=sudare_tmp_{name}_{secrets.token_hex(8)}"))
        return self.spark.save(frame, self.stashed[-1])

    def write(self, frame: Any) -> Any:
        """Make a table of the rows."""
        return self.spark.save(frame, self.draft)

    def place(self, certificate: Certificate) -> None:
        """Rename the table, with the certificate beside it; an older release of this name goes first."""
        self.spark.note(json.dumps(certificate.to_dict(), ensure_ascii=False), self.noted)
        self.spark.drop(self.name)
        self.spark.drop(self.paper)
        self.spark.rename(self.noted, self.paper)
        self.spark.rename(self.draft, self.name)

    def drop(self) -> None:
        """Drop what was not placed."""
        for name in (self.draft, self.noted, *self.stashed):
            self.spark.drop(name)


class RemoteTarget:
    """A folder of Parquet files that Spark writes and reaches by an address, beside its place until it is proven."""

    def __init__(self, spark: Spark, place: Remote) -> None:
        self.spark, self.where = spark, place.shown
        self.address = place.address.rstrip("/")
        self.folders = Folders(spark, self.where)
        self.paper = self.address + PAPER
        self.draft = f"{self.address.rpartition('/')[0]}/sudare_tmp_{secrets.token_hex(8)}"
        self.written = f"{self.draft}/release.parquet"
        if self.folders.exists(self.address) and not self.folders.exists(self.paper):
            what = "exists already, and is not a release."
            raise TargetError(Problem(self.where, what, "choose another name for the release."))

    def previous(self) -> Mapping[str, Any] | None:
        """Return the certificate beside the older release."""
        return certificate_there(self.spark, self.address)

    def stash(self, frame: Any, name: str) -> Any:
        """Store rows in the folder of the draft."""
        self.folders.make(self.draft)
        self.spark.write_to(frame, f"{self.draft}/{name}.parquet", self.where)
        return self.spark.open(f"{self.draft}/{name}.parquet")

    def write(self, frame: Any) -> Any:
        """Write the rows, in a folder of their own."""
        self.folders.make(self.draft)
        self.spark.write_to(frame, self.written, self.where)
        return self.spark.open(self.written)

    def place(self, certificate: Certificate) -> None:
        """Rename the folder, with the certificate beside it; an older release of this name goes with the draft."""
        text = json.dumps(certificate.to_dict(), indent=2, ensure_ascii=False)
        self.folders.write(f"{self.draft}/certificate.json", text)
        if self.folders.exists(self.address):
            self.folders.rename(self.address, f"{self.draft}/older")
            self.folders.remove(self.paper)
        self.folders.rename(f"{self.draft}/certificate.json", self.paper)
        self.folders.rename(self.written, self.address)

    def drop(self) -> None:
        """Remove what was not placed, and what was replaced."""
        self.folders.remove(self.draft)


def certificate_there(spark: Spark, address: str) -> Mapping[str, Any] | None:
    """Return the certificate of a release that Spark reaches by an address, if there is one."""
    return read_certificate(Folders(spark, address).read(address.rstrip("/") + PAPER), address + PAPER)


class FrameTarget:
    """Rows that go back as a DataFrame; Spark keeps them, so that they stay what was proven."""

    where = "release"

    def __init__(self, spark: Spark) -> None:
        self.spark = spark
        self.frame: Any = None

    def previous(self) -> None:
        """Return nothing: nothing is replaced."""
        return

    def stash(self, frame: Any, name: str) -> Any:
        """Raise: what Spark loses of a table in memory it makes again, and would then draw again."""
        del frame, name
        what = "Spark may compute a DataFrame more than once, but samples, random values and swaps must be stored."
        raise UnsupportedError(what, hint="name a Parquet folder or a table with out=..., or run on one machine.")

    def write(self, frame: Any) -> Any:
        """Make the rows."""
        self.frame = self.spark.keep(frame)
        return self.frame

    def place(self, certificate: Certificate) -> Any:
        """Return the rows."""
        del certificate
        found, self.frame = self.frame, None
        return found

    def drop(self) -> None:
        """Release rows that are not returned."""
        if self.frame is not None:
            self.spark.forget(self.frame)


class PreviewTarget(FrameTarget):
    """Rows of which only the first come here; Spark keeps them until then, and writes nothing."""

    def __init__(self, spark: Spark, most: int) -> None:
        super().__init__(spark)
        self.most = most

    def place(self, certificate: Certificate) -> pa.Table:
        """Return the first rows."""
        del certificate
        return self.spark.first(self.frame, self.most)


def _check_target(request: Request, spark: Spark) -> None:
    """Raise if a release could not be placed; nothing is made to find out."""
    out = request.target
    if isinstance(out, Remote):
        _check_remote(out, request.data)
        RemoteTarget(spark, out)
    elif isinstance(out, Path) and is_path(str(out)):
        _check_out(out, request.data)
    elif out is not None:
        TableTarget(spark, str(out))


@contextmanager
def target_of(request: Request, spark: Spark) -> Iterator[SparkTarget]:
    """Yield the target of a release; if anything fails, nothing of it remains."""
    out = request.target
    if isinstance(out, Place):
        what = "Spark does not write to a database."
        raise UnsupportedError(Problem(out.shown, what, "write to a Parquet folder, or remove --engine."))
    if request.preview is not None:
        _check_target(request, spark)
    if out is None or request.preview is not None:
        if request.preview is None and not is_spark(request.data):
            raise TargetError(Problem("out", "the release needs a file or a table to write to.", "say out."))
        target = FrameTarget(spark) if request.preview is None else PreviewTarget(spark, request.preview)
        try:
            yield target
        finally:
            target.drop()
        return
    if isinstance(out, Remote):
        _check_remote(out, request.data)
        remote = RemoteTarget(spark, out)
        try:
            yield remote
        finally:
            remote.drop()
        return
    if not is_path(str(out)):
        table = TableTarget(spark, str(out))
        try:
            yield table
        finally:
            table.drop()
        return
    _check_out(out, request.data)
    with private_folder(out.parent) as folder:
        yield FolderTarget(spark, out, folder)


def _check_parquet(text: str) -> None:
    if not text.lower().endswith(".parquet"):
        what = "Spark writes a release as a folder of Parquet files."
        raise TargetError(Problem(text, what, "use a name that ends in .parquet."))


def _check_remote(out: Remote, data: Any) -> None:
    _check_parquet(out.shown.rstrip("/"))
    if data == out.address:
        raise TargetError(Problem(out.shown, "is the source itself.", "choose another name for the release."))


def _check_out(out: Path, data: Any) -> None:
    text = str(out)
    _check_parquet(text)
    check_folder(out.parent)
    if isinstance(data, str) and is_path(data) and out.exists() and Path(data).exists() and out.samefile(data):
        raise TargetError(Problem(text, "is the source itself.", "choose another name for the release."))
    if out.is_dir() and not certificate_path(out).is_file():
        raise TargetError(Problem(text, "is a folder, but not a release.", "choose another name for the release."))
