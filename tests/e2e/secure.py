"""TLS for tests: a certificate, and a client over it."""

import os
import ssl
import subprocess

from fogmarch_server import Client


def make_certificate(folder, name="localhost", subject=None):
    """Makes a self-signed certificate and its key. Returns their paths. `subject` replaces /CN=name."""
    paths = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", subject or f"/CN={name}",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", paths[0],
                    "-keyout", paths[1]], check=True, capture_output=True)
    return paths


class Secure(Client):
    """A client over TLS."""

    def __init__(self, port, ca, version=None, **options):
        super().__init__(port, **options)
        context = ssl.create_default_context(cafile=ca)
        if version is not None:
            context.minimum_version = context.maximum_version = version
        self.plain = self.socket
        self.socket = context.wrap_socket(self.plain, server_hostname="localhost")

    def receive(self):
        try:
            return super().receive()
        except ssl.SSLEOFError:
            return None
