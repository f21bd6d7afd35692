import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateOwnCgroups } from '../../../../src/cell/linux/cgroup/own-cgroup.ts';

const V2_MOUNT = '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate';
const v1Mount = (controllers: string, root = '/'): string =>
  `35 31 0:32 ${root} /sys/fs/cgroup/${controllers} rw,relatime shared:9 - cgroup cgroup rw,${controllers}`;

describe('locateOwnCgroups', () => {
  it('finds the unified group of a systemd user session', () => {
    const own = locateOwnCgroups('0::/user.slice/user@1000.service/app.slice/term.scope\n', V2_MOUNT);
    expect(own.v2).toEqual({
      own: '/sys/fs/cgroup/user.slice/user@1000.service/app.slice/term.scope',
      top: '/sys/fs/cgroup',
    });
    expect(own.v1.size).toBe(0);
  });

  it('finds v1 controllers, including two that share a hierarchy', () => {
    const own = locateOwnCgroups(
      '4:memory:/a/b\n3:cpu,cpuacct:/c\n2:name=systemd:/\n',
      [v1Mount('memory'), v1Mount('cpu,cpuacct'), v1Mount('name=systemd')].join('\n'),
    );
    expect(own.v1.get('memory')).toBe('/sys/fs/cgroup/memory/a/b');
    expect(own.v1.get('cpuacct')).toBe('/sys/fs/cgroup/cpu,cpuacct/c');
    expect(own.v1.get('pids')).toBeUndefined();
  });

  it('handles a mount of only a part of the hierarchy, as in a container', () => {
    const mount = v1Mount('memory', '/docker/abc');
    expect(locateOwnCgroups('4:memory:/docker/abc/x\n', mount).v1.get('memory')).toBe(
      '/sys/fs/cgroup/memory/x',
    );
    expect(locateOwnCgroups('4:memory:/docker/abc\n', mount).v1.get('memory')).toBe('/sys/fs/cgroup/memory');
    expect(locateOwnCgroups('4:memory:/docker/abcd\n', mount).v1.size).toBe(0);
  });

  it('ignores a group outside of the mounted part', () => {
    expect(locateOwnCgroups('0::/../other\n', V2_MOUNT).v2).toBeUndefined();
  });

  it('reads a mount point with spaces and a group with a colon', () => {
    const mount = '30 23 0:26 / /mnt/my\\040groups rw - cgroup2 none rw';
    expect(locateOwnCgroups('0::/a:b\n', mount).v2?.own).toBe('/mnt/my groups/a:b');
  });

  it('never throws, and never leaves the mount point', () => {
    const path = fc.stringMatching(/^[a-z./:\\]{0,12}$/);
    fc.assert(
      fc.property(path, path, fc.string(), (group, root, noise) => {
        const mounts = `30 23 0:26 /${root} /sys/fs/cgroup rw - cgroup2 none rw\n${noise}`;
        const { v2 } = locateOwnCgroups(`0::/${group}\n${noise}`, mounts);
        if (v2) expect(`${v2.own}/`.startsWith('/sys/fs/cgroup/')).toBe(true);
      }),
    );
  });
});
