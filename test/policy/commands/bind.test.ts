/**
 * Code of the workspace, which other calls may change at the same time.
 *
 * @module
 */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/load/digest.ts';
import { bindCommand } from '../../../src/policy/commands/bind.ts';
import type { Command, ParsedCommand } from '../../../src/policy/commands/command.ts';
import { folderPerTest } from '../../test-folder.ts';

const folder = folderPerTest();

function bind(path: string): Promise<Command> {
  const parsed: ParsedCommand = {
    runner: 'python',
    origin: 'generated',
    start: { run: 'workspace_file', path: `/workspace/${path}` },
    args: [],
  };
  const filesystem = [{ host: folder.at('workspace'), guest: '/workspace', access: 'read' as const }];
  return bindCommand(parsed, { filesystem });
}

describe('a file of the workspace', () => {
  it('has the digest of its bytes, even with a byte order mark that is not part of the code', async () => {
    mkdirSync(folder.at('workspace'));
    const bytes = Buffer.from('\uFEFFprint(1)\n');
    writeFileSync(folder.at('workspace', 'x.py'), bytes);
    expect(await bind('x.py')).toMatchObject({ digest: sha256(bytes), start: { source: 'print(1)\n' } });
  });

  it('is never one outside, while a folder above it is swapped with a link', async () => {
    for (const dir of ['workspace', 'workspace/code', 'outside']) mkdirSync(folder.at(dir));
    writeFileSync(folder.at('workspace/code/x.py'), 'inside');
    writeFileSync(folder.at('outside/x.py'), 'outside');
    symlinkSync(folder.at('outside'), folder.at('link'));
    const found = new Set<string>();
    for (let round = 0; round < 300; round++) {
      const all = Promise.allSettled(Array.from({ length: 8 }, () => bind('code/x.py')));
      for (let step = 0; step < 4; step++) {
        await setImmediate();
        renameSync(folder.at('workspace/code'), folder.at('aside'));
        renameSync(folder.at('link'), folder.at('workspace/code'));
        await setImmediate();
        renameSync(folder.at('workspace/code'), folder.at('link'));
        renameSync(folder.at('aside'), folder.at('workspace/code'));
      }
      for (const one of await all)
        if (one.status === 'fulfilled' && one.value.start.run === 'source')
          found.add(one.value.start.source ?? '');
    }
    expect([...found]).toEqual(['inside']);
  });
});
