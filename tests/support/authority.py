"""An authority that signs certificates of servers on this machine."""

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "127.0.0.1"
LONG, NOW = timedelta(days=1), datetime.now(UTC)


@dataclass
class Authority:
    """Whoever signs certificates."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def certificate(
        self, name: str, key: ec.EllipticCurvePrivateKey, address: str = "", ends: timedelta = LONG
    ) -> x509.Certificate:
        """A certificate for a server's address; for the authority itself without one."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority")])
        named = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]) if address else None
        known = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        made = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number(), NOW - 2 * LONG, NOW + ends)
        made = made.add_extension(x509.BasicConstraints(ca=named is None, path_length=None), critical=True)
        made = made.add_extension(known, critical=False).add_extension(signer, critical=False)
        return (made.add_extension(named, critical=False) if named else made).sign(self.key, hashes.SHA256())

    def written(self, folder: Path, address: str = HOST, ends: timedelta = LONG) -> ssl.SSLContext:
        """What a server at this address shows; the authority's own certificate is in `ca.pem`."""
        key = ec.generate_private_key(ec.SECP256R1())
        (folder / "ca.pem").write_bytes(self.certificate("Authority", self.key).public_bytes(serialization.Encoding.PEM))
        shown = self.certificate("Server", key, address, ends).public_bytes(serialization.Encoding.PEM)
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (folder / "server.pem").write_bytes(shown + secret)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem")
        return context
