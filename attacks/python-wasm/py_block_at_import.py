"""Never finishes loading."""

print("attack reached", flush=True)
while True:
    pass


def execute(params):
    return None
