/**
 * Nothing of one call is there in the next, and nothing of the host is there at all.
 *
 * @module
 */
import { expect, test } from 'vitest';
import type { Bench } from './bench.ts';

export function freshnessContract(bench: Bench): void {
  test('state of the module starts anew with every call', async () => {
    const skill = bench.skill(`
      import json
      CALLS = []
      def execute(params):
          CALLS.append(1)
          seen = getattr(json, "left_behind", None)
          json.left_behind = "by an earlier call"
          return [len(CALLS), seen]
    `);
    for (let call = 0; call < 3; call++) expect((await bench.succeed(skill)).result).toEqual([1, null]);
  });

  test('files in /tmp and /dev/shm are gone in the next call', async () => {
    const skill = bench.skill(`
      import os
      def execute(params):
          found = os.listdir("/tmp") + os.listdir("/dev/shm")
          for place in ("/tmp", "/dev/shm"):
              with open(place + "/left", "w") as file:
                  file.write("by an earlier call")
          return found
    `);
    for (let call = 0; call < 3; call++) expect((await bench.succeed(skill)).result).toEqual([]);
  });

  test('the environment has the fixed names and the declared ones, and nothing else', async () => {
    const skill = bench.skill({
      manifest: { env_vars: { TEST_DECLARED: { required: true } } },
      source: 'import os\ndef execute(params):\n    return dict(os.environ)\n',
    });
    const { result } = await bench.succeed(skill);
    const { LC_CTYPE, PWD, HOSTNAME, ...rest } = result as Record<string, string>;
    expect(rest).toEqual({
      PATH: bench.path,
      HOME: '/tmp',
      TMPDIR: '/tmp',
      LANG: 'C.UTF-8',
      TEST_DECLARED: 'a value with ü = and spaces',
    });
    // Set by the interpreter, by bubblewrap and by container engines themselves.
    expect([undefined, 'C.UTF-8']).toContain(LC_CTYPE);
    expect([undefined, '/skill']).toContain(PWD);
    expect([undefined, 'cell']).toContain(HOSTNAME);
  });

  test('random numbers differ from call to call', async () => {
    const skill = bench.skill('import random\ndef execute(params):\n    return random.getrandbits(52)\n');
    const seen = new Set<unknown>();
    for (let call = 0; call < 3; call++) seen.add((await bench.succeed(skill)).result);
    expect(seen.size).toBe(3);
  });
}
