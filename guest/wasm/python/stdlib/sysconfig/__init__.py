
# Added by Skillcell: the data has the platform name from when the engine was built.
def _get_sysconfigdata_name():
    return "_sysconfigdata_%s_emscripten_%s" % (sys.abiflags, sys.implementation._multiarch)
