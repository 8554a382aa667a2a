"""Start a server as an account that it accepts, without changing the machine.

PostgreSQL refuses to run as root, so it runs as a listed account without rights (`nobody`). Where that account may not enter
the product's folder (a clone in `/root`), the child keeps one capability, to pass folders that it may not read; so the folders
need not be opened to all.

PostgreSQL's `initdb` refuses a user id that is not in the machine's list of accounts; containers may have such a user. There it
runs in a user namespace, in which the same user has a listed number.
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
    """The user and group of a child. `keeps_path_access` lets it pass folders that are closed to that user."""

    uid: int
    gid: int
    keeps_path_access: bool = False

    def take_ownership(self, path: Path) -> None:
        """Make this account the owner of `path`, not of its content."""
        os.chown(path, self.uid, self.gid)

    def assume(self) -> Callable[[], None]:
        """Return what a forked child runs before `exec` to become this account. It needs root.

        The C library is loaded here, in the parent, so that the child only makes system calls.
        """
        libc = ctypes.CDLL(None, use_errno=True)

        def become() -> None:
            if self.keeps_path_access:
                _call_system(libc.prctl, _PR_SET_KEEPCAPS, 1, 0, 0, 0)
            os.setgroups([])
            os.setresgid(self.gid, self.gid, self.gid)
            os.setresuid(self.uid, self.uid, self.uid)
            if self.keeps_path_access:
                _keep_only(libc, _CAP_DAC_OVERRIDE)

        return become


def choose_account(paths: Iterable[Path]) -> Account | None:
    """Return an account that can reach `paths`, for a server that refuses root; None when this process is not root."""
    if os.geteuid() != 0:
        return None
    uid = find_listed_account()
    return Account(uid, uid, keeps_path_access=not all(_others_may_enter(path) for path in paths))


def find_listed_account() -> int:
    """Return the number of an account without rights, from the machine's list where it has one."""
    listed = {entry.pw_uid for entry in pwd.getpwall()} - {0}
    return NOBODY if NOBODY in listed else min(listed, default=NOBODY)


def is_listed(uid: int) -> bool:
    """Return whether the machine's list of accounts has this number."""
    return any(entry.pw_uid == uid for entry in pwd.getpwall())


def appear_listed() -> Callable[[], None]:
    """Return what a forked child runs before `exec` to appear as a listed account while it stays the same user.

    It raises `OSError` in the child where the machine does not allow user namespaces.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid, shown = os.geteuid(), os.getegid(), find_listed_account()

    def appear() -> None:
        _call_system(libc.unshare, _CLONE_NEWUSER)
        for name, content in (("setgroups", "deny"), ("gid_map", f"{shown} {gid} 1"), ("uid_map", f"{shown} {uid} 1")):
            Path(f"/proc/self/{name}").write_text(content)

    return appear


def _others_may_enter(path: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)


def _keep_only(libc: ctypes.CDLL, capability: int) -> None:
    mask = 1 << capability
    header = struct.pack("=II", _CAPABILITY_VERSION_3, 0)
    sets = struct.pack("=IIIIII", mask, mask, mask, 0, 0, 0)
    _call_system(libc.capset, header, sets)
    _call_system(libc.prctl, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0)


def _call_system(function: Callable[..., int], *arguments: object) -> None:
    if function(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
