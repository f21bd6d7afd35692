
# Added by Skillcell: this function normally comes from OpenSSL, which the engine does not have.
def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """PKCS #5 key derivation, slower than elsewhere."""
    import hmac

    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    start = hmac.new(bytes(password), None, hash_name)
    length = start.digest_size if dklen is None else dklen
    if length < 1:
        raise ValueError("key length must be greater than 0.")
    derived = b""
    for block in range(1, -(-length // start.digest_size) + 1):
        derived += _pbkdf2_block(start, bytes(salt) + block.to_bytes(4, "big"), iterations)
    return derived[:length]


def _pbkdf2_block(start, first, iterations):
    total = 0
    digest = first
    for _ in range(iterations):
        step = start.copy()
        step.update(digest)
        digest = step.digest()
        total ^= int.from_bytes(digest, "big")
    return total.to_bytes(start.digest_size, "big")
