"""Start a server as an account it accepts, without changing the machine.

PostgreSQL refuses to run as root. A listed account without rights (`nobody`) does; nothing is installed. Where that account may
not enter the folder the product lives in (a clone in `/root`), the child keeps one capability, passing folders it may not
read, instead of the folders being opened to all.

PostgreSQL's `initdb` refuses a user id that the machine's list of accounts does not have, as containers with a free choice of
user have it. There it runs in a user namespace, in which the same user has a listed number.
"""

import ctypes
import os
import pwd
import stat
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65_534
_CLONE_NEWUSER = 0x1000_0000
_CAP_DAC_OVERRIDE = 1
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAPABILITY_VERSION_3 = 0x2008_0522


@dataclass(frozen=True)
class Account:
    """The user and group a child runs as; `keeps_path_access` when it must pass folders closed to that user."""

    uid: int
    gid: int
    keeps_path_access: bool = False

    def own(self, path: Path) -> None:
        """Make `path` (not its content) this account's property."""
        os.chown(path, self.uid, self.gid)

    def assume(self) -> Callable[[], None]:
        """What a forked child runs before `exec` to become this account. Needs root.

        The C library is loaded here, in the parent, so that the child only makes system calls.
        """
        libc = ctypes.CDLL(None, use_errno=True)

        def become() -> None:
            if self.keeps_path_access:
                _call(libc.prctl, _PR_SET_KEEPCAPS, 1, 0, 0, 0)
            os.setgroups([])
            os.setresgid(self.gid, self.gid, self.gid)
            os.setresuid(self.uid, self.uid, self.uid)
            if self.keeps_path_access:
                _keep_only(libc, _CAP_DAC_OVERRIDE)

        return become


def account_for(paths: Iterable[Path]) -> Account | None:
    """The account a server that refuses root should run as, able to reach `paths`; None when this process is not root."""
    if os.geteuid() != 0:
        return None
    uid = listed_account()
    return Account(uid, uid, keeps_path_access=not all(_others_may_enter(path) for path in paths))


def listed_account() -> int:
    """The number of an account without rights, one that the machine's list has if there is any."""
    listed = {entry.pw_uid for entry in pwd.getpwall()} - {0}
    return NOBODY if NOBODY in listed else min(listed, default=NOBODY)


def is_listed(uid: int) -> bool:
    """True when the machine's list of accounts has this number."""
    return any(entry.pw_uid == uid for entry in pwd.getpwall())


def appear_listed() -> Callable[[], None]:
    """What a forked child runs before `exec` to appear under a listed account, while staying the user it is.

    It raises `OSError` in the child where the machine does not allow user namespaces.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid, shown = os.geteuid(), os.getegid(), listed_account()

    def appear() -> None:
        _call(libc.unshare, _CLONE_NEWUSER)
        for name, content in (("setgroups", "deny"), ("gid_map", f"{shown} {gid} 1"), ("uid_map", f"{shown} {uid} 1")):
            Path(f"/proc/self/{name}").write_text(content)

    return appear


def _others_may_enter(path: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)


def _keep_only(libc: ctypes.CDLL, capability: int) -> None:
    mask = 1 << capability
    header = struct.pack("=II", _CAPABILITY_VERSION_3, 0)
    sets = struct.pack("=IIIIII", mask, mask, mask, 0, 0, 0)
    _call(libc.capset, header, sets)
    _call(libc.prctl, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0)


def _call(function: Callable[..., int], *arguments: object) -> None:
    if function(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
