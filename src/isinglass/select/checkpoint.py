"""The folder from which a long run resumes: finished tasks, one file each, and a record of their settings and data.

``checkpoint.json`` holds the version of the layout and the fingerprint of the run; every other file is an archive
without pickles that holds the arrays of one task. Files appear whole or not at all, so that any number of threads and
processes may share a folder, and a run that is killed loses only the tasks that were not finished.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from urllib.parse import quote

import numpy as np

from isinglass.arrays import AnyArray, Arrays
from isinglass.atomic import holds_only_temporaries, open_plain, replacing
from isinglass.errors import ArgumentError, DataError
from isinglass.json_text import json_text
from isinglass.machine.locks import folder_lock
from isinglass.select.settings import Settings, identify
from isinglass.storage import read_record, write_record

KIND, TASK_KIND, VERSION = "isinglass checkpoint", "isinglass task", 5
RECORD = "checkpoint.json"
MAX_RECORD_BYTES, MAX_TASK_BYTES = 1 << 24, 1 << 33


def _shown(description: object) -> str:
    return "absent" if description is None else re.sub(r"(sha256:\w{8})\w+", r"\1…", str(description))


def _identities(prefix: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield a name and an identity for every value; settings are told apart field by field."""
    for name, value in values.items():
        if isinstance(value, Settings):
            yield from _identities(f"{prefix}{name}.", {"class": type(value).__name__, **value.items()})
        else:
            yield prefix + name, identify(value, strictly=True)


def make_folder(path: str | PathLike[str]) -> Path:
    """Make a folder for checkpoints if there is none; the folder that it is in must exist."""
    folder = Path(path)
    if not folder.parent.is_dir():  # now rather than after the first hour
        raise ArgumentError("checkpoint", "must be in a folder that exists", str(folder))
    if folder.exists() and not folder.is_dir():
        raise DataError(f"A checkpoint is a folder, and {str(folder)!r} is a file. Choose another name.")
    folder.mkdir(exist_ok=True)
    return folder


class Checkpoint:
    """Finished tasks of one run, in a folder that is made if need be.

    The fingerprint holds the data and the settings by the names the user knows, told apart by `identify`. A folder that
    differs in one of them is refused with a DataError that names it.
    """

    def __init__(self, path: str | PathLike[str], fingerprint: Mapping[str, object]) -> None:
        self.path = make_folder(path)
        self.fingerprint = dict(_identities("", fingerprint))
        with folder_lock(self.path):
            if holds_only_temporaries(self.path):
                record = {"kind": KIND, "version": VERSION, "fingerprint": self.fingerprint}
                with replacing(self.path / RECORD) as file:
                    file.write(json_text(record, indent=1).encode())
            self._refuse_other()

    def get(self, key: str) -> Arrays | None:
        """Return the result of a task, or None if it is not finished."""
        place = self._place(key)
        if not place.exists():
            return None
        try:
            with open_plain(place) as file:
                task = read_record(file, TASK_KIND, VERSION, MAX_TASK_BYTES)
            if task["key"] != key:
                raise ValueError("it is of another task")
            return {str(name): np.array(array) for name, array in task["result"].items()}
        except Exception as error:  # damaged bytes lead to errors of every kind
            raise DataError(
                f"The file {str(place)!r} of the checkpoint cannot be read ({error}). Remove it to compute the task "
                "again, or name another folder."
            ) from error

    def put(self, key: str, result: Mapping[str, AnyArray]) -> None:
        """Write the result of a task."""
        write_record(self._place(key), {"key": key, "result": dict(result)}, TASK_KIND, VERSION, follow_links=False)

    def _place(self, key: str) -> Path:
        return self.path / f"{quote(key, safe='')}.npz"

    def _refuse_other(self) -> None:
        try:
            with open_plain(self.path / RECORD) as file:
                record = json.loads(file.read(MAX_RECORD_BYTES))
            stored = dict(record["fingerprint"])
            if (record["kind"], record["version"]) != (KIND, VERSION):
                raise ValueError(f"it was written by another version of isinglass, with layout {record['version']!r}")
        except Exception as error:
            raise DataError(
                f"{str(self.path)!r} is not the folder of a checkpoint: it has no {RECORD} that can be read ({error}). "
                "Choose an empty folder, or one that does not exist yet."
            ) from error
        names = [name for name in {**stored, **self.fingerprint} if stored.get(name) != self.fingerprint.get(name)]
        if names:
            differing = [
                f"{name} ({_shown(stored.get(name))} there, {_shown(self.fingerprint.get(name))} here)"
                for name in names
            ]
            raise DataError(
                f"The checkpoint {str(self.path)!r} belongs to other data or settings. It differs in "
                f"{'; '.join(differing)}. Remove it to start again, or name another folder."
            )
