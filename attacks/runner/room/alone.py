"""Becomes another program, in a network namespace that has only a loopback.

Called with the network namespace of its caller, the program, and its arguments. Starts nothing in that namespace,
and nothing as root of the host.
"""
import fcntl, os, socket, struct, sys

SIOCSIFFLAGS, IFF_UP = 0x8914, 1

theirs, program = sys.argv[1], sys.argv[2]
if os.readlink("/proc/self/ns/net") == theirs:
    sys.exit("This is the network of the host")
with open("/proc/self/uid_map") as ids:
    if any(line.split()[1] == "0" for line in ids):
        sys.exit("This is root of the host")
if [name for _, name in socket.if_nameindex()] != ["lo"]:
    sys.exit("This network reaches more than itself")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP, b""))
os.execv(program, sys.argv[2:])
