"""The control room: a replica of a host inside fresh namespaces, in which nothing stops an attack.

Pid 1 of its own pid namespace, root only in its own user namespace: whatever the attack manages here ends with
the room. Reads one JSON line, answers with one: {"works": bool, "evidence": str}.
"""
import ctypes, fcntl, json, os, pty, resource, runpy, shutil, socket, struct, subprocess, sys, termios

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judge import VERDICTS, Run, was_reached

libc = ctypes.CDLL(None, use_errno=True)
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
HERE = os.path.dirname(os.path.abspath(__file__))


def mount(source, target, kind=None, flags=0, data=None):
    raw = [value.encode() if value else None for value in (source, target, kind)]
    if libc.mount(*raw, ctypes.c_ulong(flags), data.encode() if data else None) != 0:
        raise OSError(ctypes.get_errno(), "mount " + target)


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def build(order):
    """A separate root on a sized tmpfs, with the same paths as in the params."""
    root = order["root"]
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("room", root, "tmpfs", 0, "size=256m,mode=755")
    for name in ("usr", "proc", "dev", "tmp", "etc", "old", "mnt/bundle", "workspace/data", "run", "var/tmp"):
        os.makedirs(f"{root}/{name}")
    for name in ("bin", "lib", "lib64"):
        os.symlink("usr/" + name, f"{root}/{name}")
    mount("/usr", root + "/usr", None, MS_BIND | MS_REC)
    mount("local", root + "/usr/local", "tmpfs", 0, "size=64m")
    mount("proc", root + "/proc", "proc")
    mount("dev", root + "/dev", "tmpfs", 0, "size=128m")
    for name in ("null", "zero", "urandom", "tty"):
        put(f"{root}/dev/{name}", "")
        mount("/dev/" + name, f"{root}/dev/{name}", None, MS_BIND)
    os.mkdir(root + "/dev/shm")
    os.mkdir(root + "/dev/pts")
    os.symlink("pts/ptmx", root + "/dev/ptmx")
    mount("devpts", root + "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666")
    mount(order["bundle"], root + "/mnt/bundle", None, MS_BIND)
    shutil.copytree(order["bundle"], root + "/skill", symlinks=True)
    shutil.copytree(HERE, root + "/room")
    if order.get("prelude"):
        shutil.copytree(order["prelude"], root + "/prelude")
    if order.get("node"):
        put(root + "/opt/node", "")
        mount(order["node"], root + "/opt/node", None, MS_BIND)
    furnish(root, order)


def furnish(root, order):
    params, secret = order["params"], order["secret"]
    for path in (params["secret_file"], params["shared_tmp_file"], "/etc/passwd", "/etc/shadow", "/secret.txt"):
        put(root + path, f"root:{secret}\n")
    for path in ("/root/.ssh/id_ed25519", "/home/someone/.aws/credentials", "/dev/sda"):
        put(root + path, secret)
    put(root + "/workspace/data/report.txt", "a harmless report")
    for name, target in order.get("links", {}).items():
        os.symlink(target, f"{root}/workspace/{name}")
    for name in order.get("fifos", []):
        os.mkfifo(f"{root}/workspace/{name}")
    put(root + "/etc/hosts", "127.0.0.1 localhost\n")
    put(root + "/run/docker.sock", "")
    os.makedirs(root + os.path.dirname(params["unix_socket"]), exist_ok=True)


def enter(root):
    if libc.syscall({"x86_64": 155, "aarch64": 41}[os.uname().machine], root.encode(), (root + "/old").encode()) != 0:
        raise OSError(ctypes.get_errno(), "pivot_root")
    os.chdir("/")
    libc.umount2(b"/old", MNT_DETACH)


def raise_loopback():
    SIOCSIFFLAGS, IFF_UP = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP, b""))


def take_terminal():
    """A controlling terminal, as a runtime started from a shell has."""
    os.setsid()
    _, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


def start_neighbour(order):
    command = ["/usr/bin/python3", "-I", "/room/neighbour.py", order["params"]["token"]]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    neighbour = subprocess.Popen(command, env={"HOST_SECRET": order["secret"]}, **pipes)
    place = {**order["params"], "secret": order["secret"], "workspace": "/workspace"}
    neighbour.stdin.write(json.dumps(place).encode() + b"\n")
    neighbour.stdin.flush()
    order["params"]["victim_pid"] = json.loads(neighbour.stdout.readline())["pid"]
    return neighbour


def start_web(order):
    web = subprocess.Popen(["/usr/bin/python3", "-I", "/room/web.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    place = {"secret": order["secret"], "forbidden": order["params"]["tcp_port"], "port": order["web_port"]}
    web.stdin.write(json.dumps(place).encode() + b"\n")
    web.stdin.flush()
    web.stdout.readline()


def bound_the_damage():
    for limit, value in ((resource.RLIMIT_DATA, 1 << 30), (resource.RLIMIT_FSIZE, 2 << 30), (resource.RLIMIT_NPROC, 1500)):
        resource.setrlimit(limit, (value, value))


def main():
    order = json.loads(sys.stdin.readline())
    build(order)
    enter(order["root"])
    raise_loopback()
    take_terminal()
    bound_the_damage()
    neighbour = start_neighbour(order)
    if order.get("web_port"):
        start_web(order)
    if order.get("prelude"):
        runpy.run_path("/prelude/skill.py")["execute"](order["params"])
    run = Run(order, neighbour)
    verdict = VERDICTS[order["judge"]](run)
    reached = was_reached(run, order)
    evidence = str(verdict)[:300] if reached else "the act was not reached: " + run.first.decode("utf8", "replace")[-250:]
    print(json.dumps({"works": bool(verdict) and reached, "evidence": evidence}), flush=True)
    os._exit(0)


main()
