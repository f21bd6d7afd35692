"""Leaves the granted folder by dots, from a folder that it holds open."""

import os


def execute(params):
    folder = os.open("/workspace/data", os.O_RDONLY)
    file = os.open("../../secret.txt", os.O_RDONLY, dir_fd=folder)
    text = os.read(file, 1000).decode()
    return {"succeeded": True, "evidence": text}
