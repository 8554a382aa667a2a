"""Make the session's cookie. Scripts cannot read it, and pages of other sites cannot send it with a write."""

from datetime import timedelta

from litestar.datastructures import Cookie

from app.accounts.service.policy import AccountPolicy

SESSION = "rubrica_session"


def session_cookie(token: str, policy: AccountPolicy) -> Cookie:
    """Return the cookie of a new session. It is `lax`, so that a person who comes back from an identity provider is signed in."""
    return cookie(SESSION, token, policy, policy.session_lifetime)


def no_session(policy: AccountPolicy) -> Cookie:
    """Return a cookie that removes the session's cookie."""
    return cookie(SESSION, "", policy, timedelta(0))


def cookie(name: str, value: str, policy: AccountPolicy, age: timedelta) -> Cookie:
    """Return a cookie for the whole of this server."""
    seconds = int(age.total_seconds())
    return Cookie(key=name, value=value, max_age=seconds, path="/", httponly=True, secure=policy.secure, samesite="lax")
