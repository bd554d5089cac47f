"""The archive of a backup: a plain tar with a manifest first, the dump, and the files outside the database."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from inform_site.backups.programs import BackupError

MANIFEST = "manifest.json"
DUMP = "database.dump"
KEY = "secret_key"
CALIBRATIONS = "calibrations/"
FORMAT = 1
CHUNK_BYTES = 1 << 20
MAX_MANIFEST_BYTES = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The contents of a backup, which a restore compares with the database."""

    made_at: str
    """ISO 8601, UTC."""
    release: str = "unknown"
    """The version of the site; backups older than 1.0.0 do not say."""
    engine: str
    postgresql: int
    """Major version of the server."""
    migrations: tuple[str, ...]
    counts: Mapping[str, int]
    """Rows by table."""
    key: str
    """Fingerprint of the site's SECRET_KEY."""
    checksums: Mapping[str, str]
    """SHA-256 by member, the manifest's own excepted."""
    format: int = field(default=FORMAT)


def write(path: Path, manifest: Manifest, files: Mapping[str, Path]) -> None:
    """Write an archive that only its owner can read."""
    path.touch(mode=0o600)
    text = json.dumps(asdict(manifest), indent=1).encode()
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        head = tarfile.TarInfo(MANIFEST)
        head.size, head.mode = len(text), 0o600
        archive.addfile(head, io.BytesIO(text))
        for name, file in files.items():
            archive.add(file, arcname=name, recursive=False)


def read(path: Path) -> Manifest:
    """Return the manifest of an archive whose members are whole. Raises BackupError."""
    try:
        with tarfile.open(path, "r:") as archive:
            first = archive.next()
            if first is None or first.name != MANIFEST or first.size > MAX_MANIFEST_BYTES:
                raise BackupError(f"{path} is not a backup of InForm: `manage.py backup` makes them.")
            manifest = _parse(_bytes_of(archive, first), path)
            found = {one.name: _digest(archive, one) for one in archive.getmembers() if one.name != MANIFEST}
    except (tarfile.TarError, EOFError) as error:
        raise BackupError(f"{path} is not a whole backup of InForm ({error}). Take another one.") from error
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from error
    if found != dict(manifest.checksums):
        raise BackupError(f"{path} is damaged: its contents differ from their checksums. Take another backup.")
    return manifest


def read_key(path: Path) -> str | None:
    """Return the SECRET_KEY in an archive; None where it holds none."""
    with tarfile.open(path, "r:") as archive:
        member = next((one for one in archive if one.name == KEY), None)
        return _bytes_of(archive, member).decode() if member else None


def read_calibrations(path: Path) -> dict[str, bytes]:
    """Return the files of fitted models in an archive, by name."""
    with tarfile.open(path, "r:") as archive:
        members = [one for one in archive if one.isfile() and one.name.startswith(CALIBRATIONS)]
        return {Path(one.name).name: _bytes_of(archive, one) for one in members}


def copy_dump(path: Path, out: IO[bytes]) -> None:
    """Write the dump of an archive to a stream."""
    with tarfile.open(path, "r:") as archive:
        member = next(one for one in archive if one.name == DUMP)
        for chunk in _chunks(archive, member):
            out.write(chunk)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parse(text: bytes, path: Path) -> Manifest:
    try:
        fields: dict[str, Any] = json.loads(text)
        if fields.get("format") != FORMAT:
            raise BackupError(f"{path} was made by a newer release of InForm. Restore it with that release.")
        return Manifest(**fields | {"migrations": tuple(fields["migrations"])})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BackupError(f"{path} is not a backup of InForm: its manifest cannot be read.") from error


def _digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(archive, member):
        digest.update(chunk)
    return digest.hexdigest()


def _bytes_of(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    return b"".join(_chunks(archive, member))


def _chunks(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    file = archive.extractfile(member)
    while file and (chunk := file.read(CHUNK_BYTES)):
        yield chunk
