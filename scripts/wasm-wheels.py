"""Builds lxml and Pillow for Python in Wasm, from unpacked sources. The Python index has no such wheels.

    python3 scripts/wasm-wheels.py --out DIR --python DIR --emscripten DIR --zlib DIR \\
        --pillow DIR --libxml2 DIR --libxslt DIR --lxml DIR [--clang PROGRAM] [--linker PROGRAM]

--python      headers of Python 3.14, of any machine (Debian: libpython3.14-dev, usr/include/python3.14)
--emscripten  the folder `system` of Emscripten 5 or 6 (Debian: emscripten); only its headers are used
--zlib        the folder of zlib.h and zconf.h; the code is in the engine
--pillow ...  the unpacked sources: pip download --no-binary :all: lxml pillow; apt-get source libxml2 libxslt
--linker      wasm-ld 15 or newer (Debian 12: lld-16); older ones set globals in a way that an image would not undo

Then PIP_FIND_LINKS=DIR makes `skillcell install` use the wheels.

No line of the sources is changed. What needs a library that the engine does not have is left out, by the switches that the
sources have for it: Pillow has no JPEG, TIFF, WebP and fonts; libxml2 has no iconv, zlib, threads and network.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from glob import glob

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TAG = "cp314-cp314-pyemscripten_2026_0_wasm32"
SUFFIX = ".cpython-314-wasm32-emscripten.so"
# Older compilers do not define these, and newer headers of Emscripten use them.
CONSTANTS = [f"-D__{kind}INT{bits}_C(c)=c{end}" for bits, ends in ((8, ("", "")), (16, ("", "")), (32, ("", "##U")),
             (64, ("##LL", "##ULL"))) for kind, end in zip(("", "U"), ends)] + ["-D__INTMAX_C(c)=c##LL", "-D__UINTMAX_C(c)=c##ULL"]
LIBXML2_OFF = {"THREADS", "THREAD_ALLOC", "ICONV", "ICU", "ZLIB", "LZMA", "MODULES", "HTTP", "DOCS", "READLINE"}
NOT_LIBRARY = re.compile(r"(?:test|run|lint)\w*|xmllint|xmlcatalog|shell")


def parse():
    parser = argparse.ArgumentParser()
    for name in ("out", "python", "emscripten", "zlib", "pillow", "libxml2", "libxslt", "lxml"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--linker", default="wasm-ld")
    return parser.parse_args()


def engine_config(python):
    """The pyconfig.h of the engine: its values are in its library, their names in any other pyconfig.h."""
    with zipfile.ZipFile(f"{ROOT}/node_modules/pyodide/python_stdlib.zip") as library:
        name = next(one for one in library.namelist() if one.startswith("_sysconfigdata"))
        values = {}
        exec(library.read(name), values)
    values = values["build_time_vars"]
    numbers = {key: value for key, value in values.items() if isinstance(value, int) and re.fullmatch(r"[A-Za-z]\w+", key)}
    used = {key: value for key, value in numbers.items() if value or key.startswith("SIZEOF_")}
    lines = [f"#define {key} {value}" for key, value in used.items() if key != "PY_SSL_DEFAULT_CIPHERS"]
    return "\n".join(["#ifndef Py_PYCONFIG_H", "#define Py_PYCONFIG_H", *lines, "#endif", ""])


class Builder:
    def __init__(self, options, work):
        self.options, self.work = options, work
        include = f"{work}/include"
        shutil.copytree(options.python, include)
        write(f"{include}/pyconfig.h", engine_config(options.python))
        os.makedirs(f"{work}/zlib")
        for name in ("zlib.h", "zconf.h"):
            shutil.copy(f"{options.zlib}/{name}", f"{work}/zlib")
        musl = f"{options.emscripten}/lib/libc/musl"
        system = [include, f"{work}/zlib", f"{options.emscripten}/include/compat", f"{options.emscripten}/include",
                  f"{musl}/include", f"{musl}/arch/emscripten", f"{musl}/arch/generic"]
        self.flags = ["--target=wasm32-unknown-emscripten", "-DEMSCRIPTEN", "-nostdlibinc", "-fPIC", "-O2", "-DNDEBUG",
                      "-fvisibility=hidden", "-w", *CONSTANTS, *[word for path in system for word in ("-isystem", path)]]

    def module(self, name, target, sources):
        """Compiles (source, flags) pairs and links them into one Python module."""
        def compile_one(job):
            at, (source, flags) = job
            target = f"{self.work}/{name}-{at}.o"
            subprocess.run([self.options.clang, *self.flags, *flags, "-c", source, "-o", target], check=True)
            return target

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_one, enumerate(sources)))
        command = [self.options.linker, "-shared", "--experimental-pic", f"--export=PyInit_{name}", "-o", target + SUFFIX]
        subprocess.run([*command, *objects], check=True, stderr=subprocess.DEVNULL)

    def pillow(self):
        source = self.options.pillow
        version = version_of(source)
        names = ["_imaging", "decode", "encode", "map", "display", "outline", "path"]
        files = [f"{source}/src/{name}.c" for name in names] + sorted(glob(f"{source}/src/libImaging/*.c"))
        flags = ["-DHAVE_LIBZ", f'-DPILLOW_VERSION="{version}"']
        root = self.copy_package(f"{source}/src/PIL", "PIL")
        self.module("_imaging", f"{root}/PIL/_imaging", [(file, flags) for file in files])
        self.wheel(root, f"pillow-{version}", source)

    def lxml(self):
        options = self.options
        xml, xslt = self.configured("libxml2", options.libxml2), self.configured("libxslt", options.libxslt)
        flags = [f"-I{xml}/include", f"-I{xslt}"]
        library = [one for one in sorted(glob(f"{xml}/*.c")) if not NOT_LIBRARY.fullmatch(os.path.basename(one)[:-2])]
        own = [*flags, f"-I{xml}", f"-I{xml}/include/private", '-DSYSCONFDIR="/etc"']
        jobs = [(f"{options.lxml}/src/lxml/etree.c", [*flags, "-O1", f"-I{options.lxml}/src", f"-I{options.lxml}/src/lxml/includes"])]
        jobs += [(file, own) for file in library]
        jobs += [(file, flags) for part in ("libxslt", "libexslt") for file in sorted(glob(f"{xslt}/{part}/*.c"))]
        root = self.copy_package(f"{options.lxml}/src/lxml", "lxml")
        self.module("etree", f"{root}/lxml/etree", jobs)
        self.wheel(root, f"lxml-{version_of(options.lxml)}", options.lxml)

    def configured(self, name, source):
        """A copy with the headers that its configure script would write."""
        target = f"{self.work}/{name}"
        shutil.copytree(source, target)
        text = library_version(target)
        number = "%d%02d%02d" % tuple(int(part) for part in text.split("."))
        for template in glob(f"{target}/include/libxml/xmlversion.h.in") + glob(f"{target}/lib*/*config.h.in"):
            filled = re.sub(r"@WITH_(\w+)@", lambda found: "0" if self.is_off(name, found[1]) else "1", read(template))
            filled = re.sub(r"@\w*VERSION_NUMBER@", number, filled)
            filled = re.sub(r"@\w*VERSION@", text, filled)
            write(template[:-3], re.sub(r"@\w+@", "", filled))
        headers = ["FCNTL", "LOCALE", "MATH", "STDINT", "STRINGS", "SYS_STAT", "SYS_TIME", "TIME", "UNISTD"]
        lines = [f"#define HAVE_{one}_H 1" for one in headers]
        lines += [f"#define HAVE_{one} 1" for one in ("DECL_GETENTROPY", "GETTIMEOFDAY", "GMTIME_R", "LOCALTIME_R")]
        write(f"{target}/config.h", "\n".join([*lines, '#define XML_SYSCONFDIR "/etc"', f'#define VERSION "{text}"', ""]))
        return target

    @staticmethod
    def is_off(name, part):
        return part in LIBXML2_OFF if name == "libxml2" else part in {"MODULES", "TRIO", "CRYPTO"}

    def copy_package(self, source, name):
        root = f"{self.work}/wheel-{name}"
        ignored = shutil.ignore_patterns("*.c", "*.h", "*.pyx", "*.pxi", "*.pxd")
        shutil.copytree(source, f"{root}/{name}", ignore=ignored)
        return root

    def wheel(self, root, name, source):
        folder = f"{root}/{name}.dist-info"
        os.makedirs(folder)
        shutil.copy(f"{source}/PKG-INFO", f"{folder}/METADATA")
        write(f"{folder}/WHEEL", f"Wheel-Version: 1.0\nGenerator: skillcell\nRoot-Is-Purelib: false\nTag: {TAG}\n")
        record = []
        os.makedirs(self.options.out, exist_ok=True)
        target = f"{self.options.out}/{name}-{TAG}.whl"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(glob(f"{root}/**/*", recursive=True)):
                if os.path.isdir(file):
                    continue
                path = os.path.relpath(file, root)
                with open(file, "rb") as opened:
                    content = opened.read()
                archive.writestr(path, content)
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                record.append(f"{path},sha256={digest},{len(content)}")
            archive.writestr(f"{name}.dist-info/RECORD", "\n".join([*record, f"{name}.dist-info/RECORD,,", ""]))
        print(target)


def version_of(source):
    return re.search(r"^Version: (\S+)", read(f"{source}/PKG-INFO"), re.M)[1]


def library_version(source):
    if os.path.exists(f"{source}/VERSION"):
        return read(f"{source}/VERSION").strip()
    configure = read(f"{source}/configure.ac")
    return ".".join(re.search(rf"\[{part}_VERSION\], \[(\d+)\]", configure)[1] for part in ("MAJOR", "MINOR", "MICRO"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


with tempfile.TemporaryDirectory() as folder:
    builder = Builder(parse(), folder)
    builder.pillow()
    builder.lxml()
