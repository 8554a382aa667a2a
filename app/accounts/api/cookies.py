"""Make the session's cookie. Scripts cannot read it, and pages of other sites cannot send it with a write."""

from datetime import timedelta

from litestar.datastructures import Cookie

from app.accounts.service.policy import AccountPolicy

SESSION_COOKIE = "rubrica_session"


def make_session_cookie(token: str, policy: AccountPolicy) -> Cookie:
    """Return the cookie of a new session. It is `lax`, so that a person who comes back from an identity provider is signed in."""
    return make_cookie(SESSION_COOKIE, token, policy, policy.session_lifetime)


def make_expired_cookie(policy: AccountPolicy) -> Cookie:
    """Return a cookie that removes the session's cookie."""
    return make_cookie(SESSION_COOKIE, "", policy, timedelta(0))


def make_cookie(name: str, value: str, policy: AccountPolicy, age: timedelta) -> Cookie:
    """Return a cookie for the whole of this server."""
    seconds = int(age.total_seconds())
    return Cookie(key=name, value=value, max_age=seconds, path="/", httponly=True, secure=policy.secure, samesite="lax")
