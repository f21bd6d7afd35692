
# Added by Skillcell: the host does TLS for the sockets that it provides; there are no others.
def _wrap_socket(self, sock, *_, **__):
    secure = getattr(sock, "secure", None)
    if secure is None:
        raise SSLError("a Wasm cell speaks TLS only with hosts that its manifest declares")
    return secure()


SSLContext.wrap_socket = _wrap_socket
# Set and read by libraries, without effect: the host decides.
SSLContext.hostname_checks_common_name = False
for _name in ("load_verify_locations", "load_default_certs", "load_cert_chain", "set_ciphers", "set_alpn_protocols"):
    setattr(SSLContext, _name, lambda self, *_, **__: None)
