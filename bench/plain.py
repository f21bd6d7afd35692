"""What a caller without a sandbox would write: params as JSON on stdin, the result as JSON on stdout."""

import json
import sys

sys.path.insert(0, sys.argv[1])

from skill import execute  # noqa: E402

print(json.dumps(execute(json.load(sys.stdin))))
