/** Where controls that import hostile code or flood a server run: without privileges, and with only their own loopback. */
import { readlinkSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { EDGE_ATTACKS } from '../../attacks/edges/corpus.ts';
import { runAlone } from '../../attacks/runner/alone.ts';
import { CONTROL } from '../../attacks/runner/identities.ts';
import { openTrustHome } from '../../attacks/runner/run-trust.ts';
import { openTrustStage } from '../../attacks/trust/stage.ts';

const LOOK = `
import json, os, socket, sys
def reaches(port):
    try:
        socket.create_connection(("127.0.0.1", port), 5)
        return True
    except OSError:
        return False
own = socket.create_server(("127.0.0.1", 0))
print(json.dumps({
    "interfaces": [name for _, name in socket.if_nameindex()],
    "outside": int(open("/proc/self/uid_map").read().split()[1]),
    "network": os.readlink("/proc/self/ns/net"),
    "host": reaches(int(sys.argv[1])),
    "own": reaches(own.getsockname()[1]),
}))
`;

describe('a control that runs alone', () => {
  test('has an unprivileged user and reaches only its own loopback', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const said = await runAlone('/usr/bin/python3', ['-I', '-c', LOOK, String(port)]);
    server.close();
    const { network, ...seen } = JSON.parse(said) as Record<string, unknown>;
    expect(seen).toEqual({
      interfaces: ['lo'],
      outside: process.getuid?.() === 0 ? CONTROL : process.getuid?.(),
      host: false,
      own: true,
    });
    expect(network).not.toBe(readlinkSync('/proc/self/ns/net'));
  });

  test.each(['half_sent_heads', 'half_sent_bodies'])(
    'shows what %s does, in no process of ours',
    async (name) => {
      using home = openTrustHome();
      await using stage = openTrustStage(home.path, name);
      const attack = EDGE_ATTACKS.find((one) => one.name === name);
      const control = typeof attack?.control === 'function' ? attack.control : () => undefined;
      const sockets = (): number =>
        process.getActiveResourcesInfo().filter((one) => one.includes('TCP')).length;
      const running = control(stage);
      const seen: number[] = [];
      const watch = setInterval(() => seen.push(sockets()), 20);
      const evidence = await running;
      clearInterval(watch);
      expect(evidence).toContain('lock out the next client');
      // A single process would need two for each request.
      expect(Math.max(0, ...seen), 'sockets of the runner').toBeLessThan(10);
    },
  );
});
