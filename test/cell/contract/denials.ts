/**
 * What was not declared is denied, and the caller learns what was asked for.
 *
 * @module
 */
import { expect, test } from 'vitest';
import type { Bench } from './bench.ts';

/** A manifest without the section: inspection only warns, so the boundary itself is what denies. */
const LEGACY = { capabilities: undefined };

const DENIED = [
  ['reading outside', 'filesystem', 'read /etc/passwd', 'return open("/etc/passwd").read()'],
  ['reading up and out', 'filesystem', 'read /etc/shadow', 'return open("/skill/../etc/shadow").read()'],
  ['writing outside', 'filesystem', 'write /etc/motd', 'open("/etc/motd", "w").write("x")'],
  [
    'writing into the bundle',
    'filesystem',
    'write /skill/skill.py',
    'open("/skill/skill.py", "a").write("x")',
  ],
  ['making a folder in the bundle', 'filesystem', 'write /skill/new', 'import os\nos.mkdir("/skill/new")'],
  ['removing its own code', 'filesystem', 'write /skill/skill.py', 'import os\nos.remove("/skill/skill.py")'],
  ['listing outside', 'filesystem', 'read /home', 'import os\nreturn os.listdir("/home")'],
  [
    'connecting',
    'network',
    'connect 127.0.0.1:9',
    'import socket\nsocket.socket().connect(("127.0.0.1", 9))',
  ],
  [
    'sending a datagram',
    'network',
    'send to 127.0.0.1:9',
    'import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))',
  ],
  [
    'resolving a name',
    'network',
    'resolve skill.invalid',
    'import socket\nreturn socket.gethostbyname("skill.invalid")',
  ],
  ['listening', 'network', 'listen on 127.0.0.1:0', 'import socket\nsocket.socket().bind(("127.0.0.1", 0))'],
  [
    'starting a program',
    'process',
    'start /usr/bin/true',
    'import subprocess\nsubprocess.run(["/usr/bin/true"])',
  ],
  ['running a shell', 'process', 'start true', 'import os\nos.system("true")'],
  ['forking', 'process', 'start fork', 'import os\nif os.fork() == 0:\n    os._exit(0)'],
  [
    'reading an undeclared variable',
    'env',
    'read NOT_DECLARED',
    'import os\nreturn os.environ["NOT_" + "DECLARED"]',
  ],
] as const;

export function denialContract(bench: Bench): void {
  test.each(DENIED)('%s', async (...denied) => {
    const [, capability, asked, body] = denied;
    const skill = bench.skillThat(body, LEGACY);
    const { error, capabilities } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'capability_denied', detail: { capability } });
    expect(error.detail['asked']).toContain(asked);
    expect(error.fix).not.toBe('');
    expect(capabilities.denied).toContainEqual(expect.objectContaining({ capability }));
  });

  test('a denial that the skill swallows is listed, and the call succeeds', async () => {
    const skill = bench.skill(`
      import os
      def execute(params):
          try:
              open("/etc/passwd")
          except OSError:
              pass
          return {"fallback": os.environ.get("NOT_" + "DECLARED", "none")}
    `);
    const { result, capabilities } = await bench.succeed(skill);
    expect(result).toEqual({ fallback: 'none' });
    expect(capabilities.denied.map(({ asked }) => asked)).toEqual(['read /etc/passwd', 'read NOT_DECLARED']);
  });

  test.each([
    ['nothing of the system', 'raise LookupError("unrelated")', 'LookupError'],
    ['the system', 'open("/skill/missing.txt")', 'FileNotFoundError'],
  ])('a denial that the skill swallows is not the reason of a later failure by %s', async (_, act, type) => {
    const skill = bench.skillThat(`
      import os
      os.environ.get("NOT_" + "DECLARED")
      try:
          open("/etc/passwd")
      except OSError:
          pass
      ${act}
    `);
    const { error, capabilities } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'skill_error', detail: { type } });
    expect(capabilities.denied.map(({ asked }) => asked)).toEqual(['read NOT_DECLARED', 'read /etc/passwd']);
  });

  test('a denial is still the reason when the skill raises something else because of it', async () => {
    const skill = bench.skillThat(`
      try:
          open("/etc/passwd")
      except OSError as error:
          raise RuntimeError("no settings") from error
    `);
    expect((await bench.fail(skill)).error).toMatchObject({
      code: 'capability_denied',
      detail: { capability: 'filesystem', asked: 'read /etc/passwd' },
    });
  });
}
