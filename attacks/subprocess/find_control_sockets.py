"""Looks for the control sockets of container engines, D-Bus and the log."""

import os


def execute(params):
    places = ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/podman/podman.sock", "/dev/log")
    found = [place for place in places if os.path.exists(place)]
    return {"succeeded": bool(found), "evidence": str(found)}
