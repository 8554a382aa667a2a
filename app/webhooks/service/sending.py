"""Send one message to one endpoint. This module is loaded with the first message: most processes have none to send."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import aiohttp
from yarl import URL

from app.domain.errors import ToolError
from app.outgoing.addresses import IPNetwork
from app.outgoing.guard import LookUp, check_named, guarded_connector, proxied_connector, system_lookup
from app.outgoing.way_out import hide_login
from app.webhooks.nouns import OutgoingMessage
from app.webhooks.service.signatures import sign_headers

USER_AGENT = "Rubrica-Webhooks/1"


class Sender:
    """A client that posts messages to public addresses, and to those in `networks`, by the operator's proxy if there is one."""

    def __init__(
        self,
        networks: Sequence[IPNetwork],
        time_limit: timedelta,
        lookup: LookUp = system_lookup,
        proxy: str | None = None,
    ) -> None:
        self._limit_s = time_limit.total_seconds()
        self._networks, self._lookup, self._proxy = networks, lookup, proxy
        # One host may serve the endpoints of many: a limit for the host would let a slow one of them hold up all others.
        connector = proxied_connector() if proxy else guarded_connector(lookup, networks, each_host=0)
        timeout = aiohttp.ClientTimeout(total=self._limit_s)
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False)

    async def send(self, message: OutgoingMessage) -> tuple[int | None, str]:
        """Return the status of the answer, and what is wrong with it; None where there was no answer."""
        body = message.body.encode()
        headers = sign_headers(message.id, datetime.now(UTC), body, message.secrets)
        headers |= {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        try:
            if self._proxy:
                await check_named(URL(message.url), self._lookup, self._networks)
            async with self._session.post(
                message.url, data=body, headers=headers, proxy=self._proxy, allow_redirects=False
            ) as response:
                status = response.status
        except TimeoutError:
            return None, f"no answer within {self._limit_s:g} s"
        except ToolError as error:
            return None, str(error)
        except (aiohttp.ClientHttpProxyError, aiohttp.ClientProxyConnectionError) as error:
            return None, f"no answer: the proxy {hide_login(self._proxy or '')} refuses or is away ({type(error).__name__})"
        except aiohttp.ClientSSLError:
            return None, "no answer: no encrypted connection could be made; look at the certificate"
        except aiohttp.ClientConnectorError:
            return None, "no answer: no connection could be made"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return None, f"no answer: {type(error).__name__}"
        way = f", through the proxy {hide_login(self._proxy)}" if self._proxy else ""
        return status, "" if 200 <= status < 300 else _describe_refusal(status) + way

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def _describe_refusal(status: int) -> str:
    redirect = "; redirects are not followed, name the address it leads to" if 300 <= status < 400 else ""
    return f"the endpoint answered {status}{redirect}"
