"""Unpacks an archive of a few kilobytes to a hundred megabytes.

limits: { memory: 64MiB }
"""

import zlib


def execute(params):
    packer = zlib.compressobj(9, wbits=-15)
    block = bytes(1 << 20)
    first, again = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = first + again * 119 + packer.flush()
    return {"succeeded": len(zlib.decompress(bomb, wbits=-15)) > 0, "evidence": "120 MiB from %d bytes" % len(bomb)}
