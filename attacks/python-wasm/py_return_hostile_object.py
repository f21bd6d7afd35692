"""Returns a dict with endless items."""

class Endless(dict):
    def items(self):
        while True:
            pass


def execute(params):
    return Endless(a=1)
