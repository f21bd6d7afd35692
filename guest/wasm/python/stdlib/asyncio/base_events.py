
# Added by Skillcell: the executor has no threads, so there is nothing to wait for.
async def _shut_down_at_once(self, timeout=None):
    self._executor_shutdown_called = True
    if self._default_executor is not None:
        self._default_executor.shutdown(wait=False)


BaseEventLoop.shutdown_default_executor = _shut_down_at_once
