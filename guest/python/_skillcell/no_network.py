"""Stand-in sockets for a cell without a gateway, where the kernel refuses to create any.

Code that connects to a host creates a socket first. To name the denied host in the error, it gets one end of a closed
pair, and the audit hook then denies the connection. This is a courtesy, not the wall.
"""

import sys
from importlib.machinery import PathFinder

_NAME = "socket"
# Mask without the flags that may be combined with a type.
_TYPES = 0xF


def install():
    """Patches the module when it is first imported: most skills never do, and importing it costs milliseconds."""
    if _NAME in sys.modules:
        _patch(sys.modules[_NAME])
    else:
        sys.meta_path.insert(0, _Finder)


class _Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != _NAME:
            return None
        sys.meta_path.remove(cls)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _patch(module)

            spec.loader.exec_module = exec_module
        return spec


def _patch(module):
    import _socket

    original = module.socket.__init__
    replaced_families = (_socket.AF_INET, _socket.AF_INET6, _socket.AF_UNIX)

    def init(self, family=-1, type=-1, proto=-1, fileno=None):
        if fileno is None:
            family = _socket.AF_INET if family == -1 else family
            type = _socket.SOCK_STREAM if type == -1 else type
            proto = 0 if proto == -1 else proto
            # Raw sockets have no host that an error could name.
            if family in replaced_families and type & _TYPES in (_socket.SOCK_STREAM, _socket.SOCK_DGRAM):
                fileno = _closed_end()
        original(self, family, type, proto, fileno)

    module.socket.__init__ = init


def _closed_end():
    import _socket

    mine, other = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    other.close()
    return mine.detach()
