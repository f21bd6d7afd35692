"""Returns a dict whose items never end."""

class Endless(dict):
    def items(self):
        while True:
            pass


def execute(params):
    return Endless(a=1)
