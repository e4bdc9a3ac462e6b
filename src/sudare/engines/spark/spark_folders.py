"""Folders that only Spark can reach, such as ``s3a://bucket/folder`` or ``hdfs://host/folder``.

Each is named by its address as Spark has it. What Spark itself may read and write there is settled by its settings.
"""

from __future__ import annotations

from typing import Any

from sudare.core.errors import DataError, Problem, TargetError, UnsupportedError
from sudare.engines.spark.spark import Spark
from sudare.engines.spark.spark_errors import speaking

_MOST = 64 << 20
"""The most bytes of a certificate, which is read as one text."""


class Folders:
    """What can be done with files and folders by their addresses."""

    def __init__(self, spark: Spark, where: str) -> None:
        session = spark.session
        if ".connect." in type(session).__module__:
            what = "Spark Connect cannot place a release in a folder."
            raise UnsupportedError(Problem(where, what, "write to a Spark table, or run on the machine of its driver."))
        self.where = where
        self._java = session._jvm
        self._settings = session._jsc.hadoopConfiguration()

    def _open(self, address: str) -> tuple[Any, Any]:
        """Return the file system of an address, and the address as it wants it."""
        path = self._java.org.apache.hadoop.fs.Path(address)
        return path.getFileSystem(self._settings), path

    def exists(self, address: str) -> bool:
        """Return whether there is a file or a folder."""
        with speaking(self.where):
            system, path = self._open(address)
            return bool(system.exists(path))

    def make(self, address: str) -> None:
        """Make a folder that only this user can read, where there is such a thing."""
        with speaking(self.where):
            system, path = self._open(address)
            private = self._java.org.apache.hadoop.fs.permission.FsPermission("700")
            done = system.mkdirs(path, private)
        if not done:
            raise TargetError(Problem(self.where, "the folder cannot be created."))

    def rename(self, address: str, new: str) -> None:
        """Give a file or a folder another name, which nothing has."""
        with speaking(self.where):
            system, path = self._open(address)
            done = system.rename(path, self._java.org.apache.hadoop.fs.Path(new))
        if not done:
            raise TargetError(Problem(self.where, "the release cannot be put in place."))

    def remove(self, address: str) -> None:
        """Remove a file or a folder, if there is one."""
        with speaking(self.where):
            system, path = self._open(address)
            system.delete(path, True)

    def write(self, address: str, text: str) -> None:
        """Write a file."""
        with speaking(self.where):
            system, path = self._open(address)
            stream = system.create(path)
            try:
                stream.write(bytearray(text, "utf-8"))
            finally:
                stream.close()

    def read(self, address: str) -> str | None:
        """Return the text of a file, or None if there is none."""
        with speaking(self.where):
            system, path = self._open(address)
            if not system.exists(path):
                return None
            if system.getFileStatus(path).getLen() > _MOST:
                raise DataError(Problem(address, "is too large for a certificate."))
            stream = system.open(path)
            try:
                return str(self._java.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()
