/**
 * A host program that was started with open descriptors. It prints the descriptors that a jailed program sees.
 *
 * @module
 */
import { JailWall } from '../../../src/cell/walls/jail/wall.ts';
import { LogCapture } from '../../../src/cell/protocol/log-capture.ts';
import { DEFAULT_LIMITS } from '../../../src/vocabulary/limits.ts';

const LIST_DESCRIPTORS = `
import os
for fd in sorted(map(int, os.listdir("/proc/self/fd"))):
    try:
        print(fd, os.readlink("/proc/self/fd/%d" % fd))
    except FileNotFoundError:
        pass
`;

const wall = new JailWall({ cgroups: false });
const jailed = wall.launch(
  { argv: ['/usr/bin/python3', '-I', '-S', '-c', LIST_DESCRIPTORS], mounts: [], env: {}, cwd: '/' },
  { filesystem: [], network: [], env: {}, syscalls: 'default', limits: DEFAULT_LIMITS, withheld: [] },
);
const logs = new LogCapture(jailed.logs, () => undefined);
await jailed.exited;
await logs.settle();
process.stdout.write(logs.text());
await wall.close();
