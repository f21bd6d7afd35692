"""Is this an address, of which chain, and is it spelled right? Checksums are computed here: hashlib has no Keccak."""

import hashlib
import re

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BASE58_KINDS = {0x00: "pay to public key hash", 0x05: "pay to script hash"}


class NoAddress(ValueError):
    """With words for the person who typed it."""


def describe(text):
    """Chain, kind and usual spelling; raises NoAddress when it cannot be one."""
    given = text.strip()
    if re.fullmatch(r"0x.*", given, re.I | re.S):
        return ethereum(given)
    if given.lower().startswith("bc1"):
        return bech32(given)
    if given[:1] in ("1", "3"):
        return base58(given)
    raise NoAddress("%r is no address of Ethereum (0x…) or Bitcoin (1…, 3…, bc1…)" % given[:80])


def ethereum(given):
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{40}", given):
        raise NoAddress("an Ethereum address is 0x and 40 hexadecimal digits; this has %d characters" % len(given))
    digits = given[2:]
    spelled = checksummed(digits.lower())
    mixed = digits not in (digits.lower(), digits.upper())
    if mixed and "0x" + digits != spelled:
        raise NoAddress("the checksum is wrong: a character was mistyped, or upper and lower case got lost")
    return {"given": given, "normalized": spelled, "chain": "ethereum", "kind": "account", "checksum": "valid" if mixed else "absent"}


def checksummed(digits):
    """EIP-55: a digit is in upper case where the hash of the address has a high one."""
    digest = keccak256(digits.encode()).hex()
    return "0x" + "".join(one.upper() if int(other, 16) >= 8 else one for one, other in zip(digits, digest))


def base58(given):
    value = 0
    for character in given:
        place = BASE58.find(character)
        if place < 0:
            raise NoAddress("%r is in no Bitcoin address" % character)
        value = value * 58 + place
    zeros = len(given) - len(given.lstrip("1"))
    data = b"\0" * zeros + value.to_bytes((value.bit_length() + 7) // 8, "big")
    if len(data) != 25:
        raise NoAddress("a Bitcoin address of this kind has 25 bytes, this has %d" % len(data))
    payload, check = data[:-4], data[-4:]
    if hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4] != check:
        raise NoAddress("the checksum is wrong: a character was mistyped")
    if payload[0] not in _BASE58_KINDS:
        raise NoAddress("this is no address of the Bitcoin main network")
    return {"given": given, "normalized": given, "chain": "bitcoin", "kind": _BASE58_KINDS[payload[0]], "checksum": "valid"}


def bech32(given):
    if given not in (given.lower(), given.upper()):
        raise NoAddress("upper and lower case are mixed")
    text = given.lower()
    values = [BECH32.find(character) for character in text[3:]]
    if -1 in values or not 14 <= len(text) <= 90:
        raise NoAddress("this is no bech32 address")
    checksum = _polymod([3, 3, 0, 2, 3] + values)
    version = values[0]
    # Version 0 has the constant of bech32, all later ones that of bech32m (BIP-350).
    if checksum != (1 if version == 0 else 0x2BC830A3):
        raise NoAddress("the checksum is wrong: a character was mistyped")
    program = _regroup(values[1:-6])
    if program is None or version > 16 or not 2 <= len(program) <= 40 or (version == 0 and len(program) not in (20, 32)):
        raise NoAddress("the witness program of this address is malformed")
    kind = "taproot" if version == 1 and len(program) == 32 else "witness version %d" % version
    return {"given": given, "normalized": text, "chain": "bitcoin", "kind": kind, "checksum": "valid"}


def _polymod(values):
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= generator if top >> bit & 1 else 0
    return check


def _regroup(values):
    """Groups of five bits as bytes; None when what is left over is not just padding."""
    buffer = bits = 0
    data = bytearray()
    for value in values:
        buffer = (buffer << 5 | value) & 0xFFF
        bits += 5
        if bits >= 8:
            bits -= 8
            data.append(buffer >> bits & 0xFF)
    return None if bits >= 5 or buffer & ((1 << bits) - 1) else bytes(data)


_ROUNDS = [
    0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000A, 0x000000008000808B, 0x800000000000008B, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]  # fmt: skip
_ROTATIONS = [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14]
_MASK = (1 << 64) - 1


def keccak256(data):
    """Keccak as Ethereum uses it: SHA-3 before its padding was changed."""
    rate = 136
    padded = bytearray(data) + b"\x01" + b"\0" * (-(len(data) + 1) % rate)
    padded[-1] |= 0x80
    state = [0] * 25
    for start in range(0, len(padded), rate):
        for lane in range(rate // 8):
            state[lane] ^= int.from_bytes(padded[start + lane * 8 : start + lane * 8 + 8], "little")
        state = _permute(state)
    return b"".join(lane.to_bytes(8, "little") for lane in state[:4])


def _permute(a):
    for constant in _ROUNDS:
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = [c[(x - 1) % 5] ^ _rotate(c[(x + 1) % 5], 1) for x in range(5)]
        a = [lane ^ d[at % 5] for at, lane in enumerate(a)]
        b = [0] * 25
        for at, lane in enumerate(a):
            x, y = at % 5, at // 5
            b[y + 5 * ((2 * x + 3 * y) % 5)] = _rotate(lane, _ROTATIONS[at])
        a = [b[at] ^ (~b[at - at % 5 + (at + 1) % 5] & b[at - at % 5 + (at + 2) % 5]) for at in range(25)]
        a[0] ^= constant
    return a


def _rotate(lane, count):
    return ((lane << count) | (lane >> (64 - count))) & _MASK if count else lane
