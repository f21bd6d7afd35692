
# Added by Skillcell: there are neither threads nor signals that could wake a loop, so it needs no socket to itself.
def _without_self_pipe(self):
    self._ssock = self._csock = None


def _nothing_to_close(self):
    pass


BaseSelectorEventLoop._make_self_pipe = _without_self_pipe
BaseSelectorEventLoop._close_self_pipe = _nothing_to_close
BaseSelectorEventLoop._write_to_self = _nothing_to_close
