/**
 * Native cells of the real service send every kind of broken frame: only their own call fails, with a typed error and one
 * receipt.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { ChaosService, codeOf } from './service.ts';

/** Python expressions for the bytes that the skill writes to its channel. */
const BROKEN: readonly (readonly [kind: string, bytes: string])[] = [
  ['noise', 'b"\\xff" * 4096'],
  ['a length beyond every limit', 'b"\\xff\\xff\\xff\\xff"'],
  ['an empty frame', 'frame(b"")'],
  ['no JSON', 'frame(b"{")'],
  ['no object', 'frame(b"[1]")'],
  ['no UTF-8', 'frame(b"\\xc3\\x28")'],
  ['an unknown kind', 'frame(b\'{"t":"other"}\')'],
  ['a wrong count of bytes behind it', 'frame(b\'{"t":"result","payload_bytes":-1}\')'],
  ['an unknown capability', 'frame(b\'{"t":"denied","capability":"none"}\')'],
  ['too many frames', 'frame(b\'{"t":"loaded"}\') * 1000'],
];
let folder: string;
let service: ChaosService;

beforeAll(async () => {
  folder = openFolder();
  writeSkill(folder, {
    id: 'test/breaks',
    manifest: { execution: ['subprocess'], limits: { timeout: '60s' } },
    source: `
      import os, time
      def frame(body):
          return len(body).to_bytes(4, "little") + body
      def execute(params):
          if "kind" in params:
              os.write(3, [${BROKEN.map(([, bytes]) => bytes).join(', ')}][params["kind"]])
              time.sleep(50)
          return "fine"
    `,
  });
  service = await ChaosService.start({ folder, args: ['--drain', '5s'] });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  removeFolder(folder);
});

describe('a cell that sends', () => {
  test.each(BROKEN.map(([name], kind) => ({ name, kind })))('$name fails its own call', async ({ kind }) => {
    const broken = await service.call('test/breaks', { kind });
    expect(['skill_error', 'resource_exceeded']).toContain(codeOf(broken));
    expect(JSON.stringify(broken.body['error']), 'not by its deadline').not.toContain('"limit":"timeout"');
    expect((await service.receipts()).get(String(broken.body['call_id']))).toBe(codeOf(broken));
    await service.expectWell('test/breaks');
  });

  test('all of them leaves a service that stops on request', async () => {
    expect(await service.stop()).toBe(0);
  });
});
