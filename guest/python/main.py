"""Entry point of a Python cell. Runs with -I -S: no site, no user paths, no PYTHON* variables."""

import sys

sys.path.insert(0, "/harness")

from _skillcell import streams  # noqa: E402

streams.attach()

from _skillcell import cell  # noqa: E402

cell.main()
