
# Added by Skillcell: the data was made under the name that the engine's platform had when it was built.
def _get_sysconfigdata_name():
    return "_sysconfigdata_%s_emscripten_%s" % (sys.abiflags, sys.implementation._multiarch)
