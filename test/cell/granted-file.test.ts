/**
 * A single granted file behaves the same in every mode: it can be read and written, and its siblings are not visible.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeSkill } from '../write-skill.ts';
import { openTestRuntime } from './test-runtime.ts';

const SOURCE = `
  import os
  def attempt(act):
      try:
          return act()
      except OSError as error:
          return "refused"
  def execute(params):
      return {
          "read": open("/workspace/note.txt").read(),
          "write": open("/workspace/note.txt", "a").write("more"),
          "kind": [os.path.isfile("/workspace/note.txt"), os.path.isdir("/workspace")],
          "beside": attempt(lambda: open("/workspace/secret.txt").read()),
          "new": attempt(lambda: open("/workspace/new.txt", "w").write("x")),
          "remove": attempt(lambda: os.remove("/workspace/note.txt")),
          "rename": attempt(lambda: os.rename("/workspace/note.txt", "/workspace/other.txt")),
      }
`;

const { runtime, folder, close } = openTestRuntime({ audit: false });
afterAll(close);

test.each(['wasm', 'subprocess'] as const)(
  '%s can use a single granted file and nothing else',
  async (execution) => {
    const workspace = join(folder, `workspace-${execution}`);
    mkdirSync(workspace);
    for (const [name, text] of Object.entries({ 'note.txt': 'a note, ', 'secret.txt': 'not granted' })) {
      writeFileSync(join(workspace, name), text);
      chmodSync(join(workspace, name), 0o666);
    }
    const filesystem = [{ path: '${workspace}/note.txt', access: 'read-write' }];
    const dir = writeSkill(folder, { source: SOURCE, manifest: { capabilities: { filesystem } } });
    const { result, execution: ran } = await runtime.execute(dir, {}, { workspace, execution });
    expect(ran?.mode).toBe(execution);
    expect(result).toEqual({
      read: 'a note, ',
      write: 4,
      kind: [true, true],
      ...{ beside: 'refused', new: 'refused', remove: 'refused', rename: 'refused' },
    });
    expect(readdirSync(workspace).sort()).toEqual(['note.txt', 'secret.txt']);
    expect(readFileSync(join(workspace, 'note.txt'), 'utf8')).toBe('a note, more');
  },
);
