"""The folder that holds all local state (`RUBRICA_HOME`), and the short private one that holds sockets."""

import hashlib
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.accounts.nouns.api_key import ApiKey
from app.domain.errors import SetupError, Unauthenticated
from app.private_file import write_private_file
from app.private_folder import make_private_folder

NEEDED_MB = 500


@dataclass(frozen=True)
class Home:
    """The paths of all files of the local stack."""

    root: Path

    @property
    def logs(self) -> Path:
        """The folder with one log file for each process."""
        return self.root / "logs"

    @property
    def postgres(self) -> Path:
        """The folder of the database cluster."""
        return self.root / "postgres"

    @property
    def temporal(self) -> Path:
        """The folder of Temporal's state."""
        return self.root / "temporal"

    @property
    def ports(self) -> Path:
        """The file of the ports that were used last time."""
        return self.root / "ports.json"

    @property
    def key(self) -> Path:
        """The file of the API key that commands and the page use on this machine's stack. Only its owner may read it."""
        return self.root / "api-key"

    @property
    def lock(self) -> Path:
        """The lock that the one stack on this home holds."""
        return self.root / "stack.lock"

    @property
    def users(self) -> Path:
        """The lock that every command which uses the running stack holds, shared."""
        return self.root / "stack.users"

    @property
    def state(self) -> Path:
        """The file of the running stack's addresses."""
        return self.root / "stack.json"

    def log_of(self, name: str) -> Path:
        """Return the log file of one process."""
        return self.logs / f"{name}.log"

    def prepare(self) -> None:
        """Make the folder, which only its owner may enter, and keep it out of version control.

        Raises:
            SetupError: the folder cannot be written, or its disk is nearly full.
        """
        make_private_folder(self.root)
        make_folder(self.logs)
        ignore = self.root / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        require_space(self.root, NEEDED_MB)

    def ensure_api_key(self) -> ApiKey:
        """Return the key in the file; write a new one when there is no file.

        Raises:
            SetupError: the file holds something else.
        """
        if not self.key.exists():
            write_private_file(self.key, f"{ApiKey.new()}\n")
        try:
            return ApiKey.parse(self.key.read_text().strip())
        except Unauthenticated as error:
            raise SetupError(f"{self.key} holds no API key; remove it and start again") from error

    def make_socket_folder(self) -> Path:
        """Make a private folder (0700) with a short path: a Unix socket's path may have 107 bytes, a home's has no limit.

        Raises:
            SetupError: somebody else owns the folder of that name.
        """
        name = hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:10]
        # Not in XDG_RUNTIME_DIR: that ends when its user logs out, and a stack under `nohup` lives on.
        base = Path(tempfile.gettempdir())
        folder = (base if len(str(base)) < 60 and os.access(base, os.W_OK) else Path("/tmp")) / f"rubrica-{os.getuid()}-{name}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) != 0o700:
            raise SetupError(f"{folder} is not a private folder of this user; remove it and start again")
        return folder


def make_folder(path: Path) -> None:
    """Make a folder and its parents.

    Raises:
        SetupError: the folder cannot be made or written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{path} cannot be made: {error.strerror}; set RUBRICA_HOME to a folder you may write to") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise SetupError(f"{path} cannot be written; change its owner or mode, or set RUBRICA_HOME to another folder")


def require_space(path: Path, megabytes: int) -> None:
    """Refuse to start on a disk with less than `megabytes` free.

    Raises:
        SetupError: the message says how much is free and what to do.
    """
    free = shutil.disk_usage(path).free // 2**20
    if free < megabytes:
        raise SetupError(
            f"only {free} MB are free on the disk of {path}, {megabytes} MB are needed; free some or set RUBRICA_HOME"
        )
