/**
 * The list of changed files, for folders that a stranger's command filled.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { GrantedPath } from '../../src/policy/grant.ts';
import { changedFiles, takeSnapshot } from '../../src/results/changed-files.ts';
import { folderPerTest } from '../test-folder.ts';

const folder = folderPerTest();
const grant = (): { filesystem: GrantedPath[] } => ({
  filesystem: [{ host: folder.path, guest: '/workspace/out', access: 'read-write' }],
});

describe('changed files', () => {
  it('stop at the same number of empty folders as of files', async () => {
    for (let at = 0; at < 20; at++) mkdirSync(folder.at(`folder${at}`, 'inner'), { recursive: true });
    expect((await takeSnapshot(grant(), 40)).isCut).toBe(false);
    expect((await takeSnapshot(grant(), 39)).isCut).toBe(true);
  });

  it('say that names which are not UTF-8 are missing', async () => {
    const before = await takeSnapshot(grant());
    writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff, 0x61])]), 'hidden');
    writeFileSync(folder.at('plain.txt'), 'seen');
    const { files, warnings } = await changedFiles(before, grant());
    expect(files.map(({ path }) => path)).toEqual(['/workspace/out/plain.txt']);
    expect(warnings).toEqual([
      'Files and folders whose names are not UTF-8 are not listed among the changed files',
    ]);
  });

  it('need no warning where every name is text', async () => {
    const before = await takeSnapshot(grant());
    writeFileSync(folder.at('plain.txt'), 'seen');
    expect((await changedFiles(before, grant())).warnings).toEqual([]);
  });
});
