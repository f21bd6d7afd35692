"""Hides the import of the socket module from static inspection and connects."""

def execute(params):
    module = __import__("".join(("soc", "ket")))
    with module.create_connection(("127.0.0.1", params["tcp_port"]), 2) as peer:
        return {"succeeded": True, "evidence": peer.recv(200).decode()}
