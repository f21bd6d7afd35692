import { expect, test } from 'vitest';
import { packageFile } from '../../src/build/tools.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { thrownBy } from '../thrown.ts';

test('a missing compiler from npm is installed and used by one command', () => {
  const folder = openFolder();
  const error = thrownBy(() => packageFile('no-such-compiler', 'lib/main.js', [folder, '/']));
  expect(error).toMatchObject({
    code: 'skill_unavailable',
    fix: `Install it in your project and build again: npm install --save-dev no-such-compiler && npx skillcell build ${folder}`,
  });
  removeFolder(folder);
});
