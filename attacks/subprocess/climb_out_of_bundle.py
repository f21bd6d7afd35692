"""Walks out of the bundle with `..` relative to an open directory."""

import os


def execute(params):
    directory = os.open("/skill", os.O_RDONLY | os.O_DIRECTORY)
    file = os.open("../../.." + params["secret_file"], os.O_RDONLY, dir_fd=directory)
    return {"succeeded": True, "evidence": os.read(file, 200).decode()}
