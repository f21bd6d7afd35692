"""What a careless host sees of one run, and the verdicts on it: did the attack work where nothing stops it?"""
import json, os, re, select, signal, socket, struct, subprocess, time

KEPT_BYTES = 32 << 20


class Run:
    """Runs the skill as a careless runtime would: same user, whole environment, leaked descriptors, no limits."""

    def __init__(self, order, neighbour):
        self.neighbour, self.secret = neighbour, order["secret"]
        self.frames, self.stdout, self.stdout_bytes, self.first = b"", b"", 0, b""
        host, guest = socket.socketpair()
        leak = os.open(order["params"]["secret_file"], os.O_RDONLY)

        os.set_inheritable(leak, True)
        command = ["/opt/node", "--no-warnings", "/room/" + order.get("harness", "naive_wasm.mjs")] if order.get("node") else ["/usr/bin/python3", "-I", "-S", "/room/naive_harness.py"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        env = {"HOST_SECRET": order["secret"]}
        self.child = subprocess.Popen(command, preexec_fn=lambda: os.dup2(guest.fileno(), 3), close_fds=False, cwd="/skill", env=env, **pipes)
        guest.close()
        calls = [{**order["params"], **call} for call in order["calls"]]
        self.child.stdin.write(json.dumps({"calls": calls, "swap": order.get("swap", False)}).encode())
        self.child.stdin.close()
        self.finished = self.collect(host, time.monotonic() + order["seconds"])
        self.status = self.child.returncode

    def collect(self, host, deadline):
        """True if the skill exited by itself before the deadline."""
        sources = [host, self.child.stdout]
        while sources and time.monotonic() < deadline and self.child.poll() is None:
            self.drain(sources, 0.02)
        finished = self.ends_before(deadline)
        while self.drain(sources, 0) and time.monotonic() < deadline:
            pass
        return finished

    def ends_before(self, deadline):
        try:
            self.child.wait(max(0, deadline - time.monotonic()))
            return True
        except subprocess.TimeoutExpired:
            return False

    def drain(self, sources, wait):
        ready, _, _ = select.select(sources, [], [], wait)
        for source in ready:
            try:
                data = os.read(source.fileno(), 1 << 20)
            except OSError:
                data = b""
            if not data:
                sources.remove(source)
            elif source is self.child.stdout:
                self.stdout_bytes += len(data)
                self.first = (self.first + data)[:4096]
                self.stdout = (self.stdout + data)[-4096:]
            elif len(self.frames) < KEPT_BYTES:
                self.frames += data
        return bool(ready)


def bodies(frames):
    """Frames as parsed by a reader without caps, which trusts every length."""
    at = 0
    while at < len(frames):
        if len(frames) - at < 4:
            raise ValueError("the reader waits for the rest of a length")
        (length,) = struct.unpack_from("<I", frames, at)
        if length > len(frames) - at - 4:
            raise ValueError(f"the reader waits for {length} bytes that never come")
        yield frames[at + 4 : at + 4 + length]
        at += 4 + length


def results(run):
    parsed = [json.loads(body) for body in bodies(run.frames)]
    return [frame["value"] for frame in parsed if frame["t"] == "result"]


def was_reached(run, order):
    """An attack that fails before its act also gives no reply: only its marker shows that it reached the act."""
    return order.get("marker", "").encode() in run.first


def reports(run):
    """The skill reports success, or the secret is in its frames or output."""
    if run.secret in (run.frames + run.stdout).decode("utf8", "replace"):
        return f"the secret {run.secret} came out"
    values = results(run)
    return bool(values) and values[-1].get("succeeded") and (values[-1].get("evidence") or "succeeded")


def refuse_doubles(pairs):
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice and the last one wins silently")
    for key, value in pairs:
        if key == "__proto__":
            raise ValueError("a key that changes the prototype of the object")
        if isinstance(value, float) and value in (float("inf"), float("-inf")) or value != value:
            raise ValueError("a number that is no number")
        if isinstance(value, str):
            value.encode()
    return dict(pairs)


def chokes_reader(run):
    """The reply breaks, stalls or deceives a reader without caps and strictness."""
    try:
        frames = [json.loads(body, object_pairs_hook=refuse_doubles) for body in bodies(run.frames)]
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    if len(frames) > 1:
        return f"{len(frames)} frames where one was due"
    size = len(run.frames)
    return size > (4 << 20) and f"a reply of {size} bytes was read" or fools(frames)


def stalls_check(run):
    """A reader that matches the result against the pattern in the skill's own outputs does not finish."""
    reply = json.loads(list(bodies(run.frames))[-1])
    texts = [text for text in strings(reply.get("value")) if "!" in text]
    signal.signal(signal.SIGALRM, refuse_to_wait)
    signal.alarm(2)
    try:
        found = [re.match("^(a+)+$", text) for text in texts]
        return not texts and found
    except TimeoutError:
        return "the pattern was still being matched after two seconds"
    finally:
        signal.alarm(0)


def refuse_to_wait(*_):
    raise TimeoutError


def strings(value):
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    return [value] if isinstance(value, str) else []


def fools(frames):
    forged = frames and (frames[0].get("t") != "result" or "forged" in json.dumps(frames[0]))
    return forged and f"the reader believes {json.dumps(frames[0])[:80]}"


def forges_stdout(run):
    last = run.stdout.decode("utf8", "replace").strip().splitlines()[-1:]
    return "forged" in "".join(last) and f"a host that reads stdout believes {last[0][-80:]}"


def hangs(run):
    return not run.finished and "still running at the deadline"


def floods(run):
    return run.stdout_bytes > (8 << 20) and f"{run.stdout_bytes} bytes of output were read"


def gives_no_reply(run):
    return run.finished and not run.frames and f"ended with status {run.status} and no reply"


def kills_neighbour(run):
    time.sleep(0.1)
    return run.neighbour.poll() is not None and f"the neighbour died with {run.neighbour.returncode}"


def outlives(run):
    beat = "/workspace/heartbeat"
    first = os.stat(beat).st_mtime_ns
    time.sleep(0.3)
    return run.finished and os.stat(beat).st_mtime_ns > first and "a process outlives the call"


VERDICTS = {
    "reports": reports,
    "chokes-reader": chokes_reader,
    "stalls-check": stalls_check,
    "forges-stdout": forges_stdout,
    "hangs": hangs,
    "floods": floods,
    "no-reply": gives_no_reply,
    "kills-neighbour": kills_neighbour,
    "outlives": outlives,
}
