"""Waits for what never comes."""

import select


def execute(params):
    select.select([], [], [], 3600)
