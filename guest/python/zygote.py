"""Entry point of a zygote. Like main.py, for the process that forks cells."""

import sys

sys.path.insert(0, "/harness")

from _skillcell import zygote  # noqa: E402

zygote.main()
