"""Talk to an OpenID Connect provider: read its description and keys, exchange a code, check an ID token.

OpenID Connect Core 1.0, sections 3.1.2, 3.1.3.7 and 5.3 (a provider that gives an access token may tell name and address there
only, and not in the ID token: section 5.4); PKCE: RFC 7636.
"""

import hashlib
import hmac
from base64 import b64encode, urlsafe_b64encode
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import quote_plus, urlencode

from app.accounts.service.policy import IdentityProvider
from app.accounts.storage.oidc import Flow
from app.domain.errors import Unauthenticated, Unavailable
from app.outgoing.way_out import find_proxy, make_tls

LIMIT_S = 10.0
LEEWAY = timedelta(seconds=60)
# Signatures by a key that only the provider has: not `none`, and not secrets that we share.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
UNTRUSTED_ANSWER = "the identity provider's answer cannot be trusted"


class IdentityClaims(NamedTuple):
    """The provider's statement about a person. The provider has verified `email`."""

    issuer: str
    subject: str
    email: str
    name: str


class SignInFailure(StrEnum):
    """The reason why a person who came back from a provider is not let in."""

    DENIED = "denied"
    LATE = "late"
    UNTRUSTED = "untrusted"
    UNVERIFIED = "unverified"


class SignInRefused(Unauthenticated):
    """The error of a browser that brought back no proof from a provider; a page has a sentence for each `reason`."""

    def __init__(self, reason: SignInFailure, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class ProviderClient:
    """A client of one provider.

    Raises:
        Unavailable: it does not answer, or not as a provider would.
        Unauthenticated: what it answered proves nothing.
    """

    def __init__(self, provider: IdentityProvider, redirect: str) -> None:
        self._provider = provider
        self._redirect = redirect
        self._described: dict[str, Any] | None = None

    async def build_entrance(self, state: str, flow: Flow) -> str:
        """Return the address where the browser goes to sign in."""
        challenge = urlsafe_b64encode(hashlib.sha256(flow.verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self._provider.client_id,
            "redirect_uri": self._redirect,
            "scope": "openid email profile",
            "state": state,
            "nonce": flow.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        entrance = (await self._get_description())["authorization_endpoint"]
        return f"{entrance}{'&' if '?' in entrance else '?'}{urlencode(asked)}"

    async def fetch_claims(self, code: str, flow: Flow) -> IdentityClaims:
        """Exchange a code for an ID token, check the token, and ask for claims that it lacks."""
        description = await self._get_description()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self._redirect, "code_verifier": flow.verifier}
        answer = await self._call("POST", description["token_endpoint"], form | {"client_id": self._provider.client_id})
        keys = await self._call("GET", description["jwks_uri"])
        claims = _check_token(str(answer.get("id_token", "")), keys, description["issuer"], self._provider.client_id, flow.nonce)
        if "email" not in claims and "userinfo_endpoint" in description:
            claims = claims | await self._fetch_userinfo(description["userinfo_endpoint"], answer, claims)
        return _claims_of(claims, description["issuer"])

    async def _fetch_userinfo(self, endpoint: str, answer: dict[str, Any], claims: dict[str, Any]) -> dict[str, Any]:
        """Ask the provider about the person to whom it gave the token; refuse claims about anybody else (section 5.3.2)."""
        told = await self._call("GET", endpoint, bearer=str(answer.get("access_token", "")))
        if not hmac.compare_digest(str(told.get("sub", "")).encode(), str(claims["sub"]).encode()):
            raise SignInRefused(SignInFailure.UNTRUSTED, f"{UNTRUSTED_ANSWER}: it tells of somebody else")
        return {name: told[name] for name in ("email", "email_verified", "name") if name in told}

    async def _get_description(self) -> dict[str, Any]:
        if self._described is None:
            found = await self._call("GET", f"{self._provider.issuer}/.well-known/openid-configuration")
            if str(found.get("issuer", "")).rstrip("/") != self._provider.issuer:
                raise Unavailable(f"RUBRICA_OIDC_ISSUER: the provider calls itself {found.get('issuer')!r}")
            self._described = found
        return self._described

    async def _call(self, method: str, url: str, form: dict[str, str] | None = None, bearer: str = "") -> dict[str, Any]:
        import aiohttp  # loaded with the first sign-in: most deployments have no provider

        limit, headers = aiohttp.ClientTimeout(total=LIMIT_S), {"Accept": "application/json"}
        if form and self._provider.client_secret:
            headers["Authorization"] = self._encode_credentials()
        elif bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        try:
            async with (
                aiohttp.ClientSession(timeout=limit, connector=aiohttp.TCPConnector(ssl=make_tls())) as session,
                session.request(method, url, data=form, headers=headers, proxy=find_proxy(url), allow_redirects=False) as answer,
            ):
                told = await answer.json(content_type=None)
                if answer.status == 400 and form is not None:
                    raise SignInRefused(SignInFailure.UNTRUSTED, f"{UNTRUSTED_ANSWER}: it refused the code")
                if answer.status != 200 or not isinstance(told, dict):
                    raise Unavailable(f"the identity provider answered {answer.status}; try again")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise Unavailable(f"the identity provider does not answer ({type(error).__name__}); try again") from error
        return told

    def _encode_credentials(self) -> str:
        """Encode id and secret as in a form, then join them (RFC 6749, section 2.3.1): a secret may have a colon or a plus."""
        both = f"{quote_plus(self._provider.client_id)}:{quote_plus(self._provider.client_secret)}"
        return f"Basic {b64encode(both.encode()).decode()}"


def _check_token(token: str, keys: dict[str, Any], issuer: str, client_id: str, nonce: str) -> dict[str, Any]:
    import jwt

    try:
        named = jwt.get_unverified_header(token).get("kid")
        usable = [key for key in jwt.PyJWKSet.from_dict(keys).keys if named in (None, key.key_id)]
        if not usable:
            raise SignInRefused(SignInFailure.UNTRUSTED, f"{UNTRUSTED_ANSWER}: it is signed with an unknown key")
        claims: dict[str, Any] = jwt.decode(
            token,
            usable[0],
            algorithms=ALGORITHMS,
            audience=client_id,
            issuer=issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iat", "iss", "aud", "sub", "nonce"]},
        )
    except (jwt.PyJWTError, ValueError) as error:
        raise SignInRefused(SignInFailure.UNTRUSTED, f"{UNTRUSTED_ANSWER}: {type(error).__name__}") from error
    if not hmac.compare_digest(str(claims["nonce"]), nonce) or claims.get("azp", client_id) != client_id:
        raise SignInRefused(SignInFailure.UNTRUSTED, f"{UNTRUSTED_ANSWER}: it was made for another sign-in")
    return claims


def _claims_of(claims: dict[str, Any], issuer: str) -> IdentityClaims:
    email = str(claims.get("email", "")).strip().lower()
    if "@" not in email or claims.get("email_verified") is not True:
        raise SignInRefused(
            SignInFailure.UNVERIFIED, "the identity provider does not vouch for your e-mail address; verify it there"
        )
    return IdentityClaims(issuer, str(claims["sub"]), email, str(claims.get("name") or email)[:100])
