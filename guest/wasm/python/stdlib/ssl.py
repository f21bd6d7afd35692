
# Added by Skillcell: the host does TLS for the sockets that it lends; there are no others.
def _wrap_socket(self, sock, *_, **__):
    secure = getattr(sock, "secure", None)
    if secure is None:
        raise SSLError("a Wasm cell speaks TLS only with hosts that its manifest declares")
    return secure()


SSLContext.wrap_socket = _wrap_socket
