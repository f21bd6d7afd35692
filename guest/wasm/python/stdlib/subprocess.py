
# Added by Skillcell: a program that cannot be started is still reported as what it is.
def _refuse(self, args, *rest, **options):
    program = [args] if isinstance(args, (str, bytes)) else list(args)
    sys.audit("subprocess.Popen", program[0], program, options.get("cwd"), options.get("env"))
    raise OSError(errno.ENOSYS, "a Wasm cell has no processes")


Popen.__init__ = _refuse
