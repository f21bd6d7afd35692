"""Never ends loading."""

while True:
    pass


def execute(params):
    return None
