/**
 * Steps of Debian's installation scripts that are read from their text: copied configuration and names of programs.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { plainFile } from '../../../src/build/container/base-tree.ts';
import { applyInstallSteps, parseInstallSteps } from '../../../src/build/container/install-steps.ts';
import { FileTree } from '../../../src/cell/images/file-tree.ts';

const SCRIPT = `#!/bin/sh
set -e
if [ "$1" = "configure" ]; then
	ucf --three-way "/usr/lib/office/.registry/main.xcd" "/etc/office/main.xcd"
	ucfr --force office "/etc/office/main.xcd"
	ucf --three-way "$SOURCE" "/etc/office/other.xcd"
fi
update-alternatives --install /usr/bin/figlet figlet /usr/bin/figlet-figlet 50 \\
	--slave /usr/share/man/man6/figlet.6.gz figlet.6.gz /usr/share/man/man6/figlet-figlet.6.gz
update-alternatives --install "/usr/bin/figlet" "figlet" "/usr/bin/other" 90
`;

test('copies and names are read, and words with variables are not', () => {
  expect(parseInstallSteps(SCRIPT)).toEqual({
    copies: [{ from: '/usr/lib/office/.registry/main.xcd', to: '/etc/office/main.xcd' }],
    alternatives: [
      { link: '/usr/bin/figlet', path: '/usr/bin/figlet-figlet', priority: 50 },
      { link: '/usr/bin/figlet', path: '/usr/bin/other', priority: 90 },
    ],
  });
});

test('the best name that exists is used, and files of packages stay', () => {
  const tree = new FileTree();
  tree.put('usr/lib/office/.registry/main.xcd', plainFile(Buffer.from('settings')));
  tree.put('usr/bin/figlet-figlet', plainFile(Buffer.from('program'), 0o755));
  applyInstallSteps(tree, [parseInstallSteps(SCRIPT)]);
  expect(tree.at('etc/office/main.xcd')).toMatchObject({ content: Buffer.from('settings') });
  expect(tree.at('usr/bin/figlet')).toMatchObject({ kind: 'link', target: '/usr/bin/figlet-figlet' });
  tree.put('usr/bin/other', plainFile(Buffer.from('another'), 0o755));
  applyInstallSteps(tree, [parseInstallSteps(SCRIPT)]);
  expect(tree.at('usr/bin/figlet')).toMatchObject({ target: '/usr/bin/figlet-figlet' });
});

test('a step whose path leads out of the image is refused or has no effect', () => {
  const script = 'ucf "/../../etc/shadow" "/etc/x"\nucf "/etc/absent" "/etc/y"\n';
  const tree = new FileTree();
  expect(() => applyInstallSteps(tree, [parseInstallSteps(script)])).toThrow('leads out');
  const absent = parseInstallSteps('ucf "/etc/absent" "/etc/y"\n');
  applyInstallSteps(tree, [absent]);
  expect(tree.at('etc/y')).toBeUndefined();
});

test('a script of blank lines, as long as one may be, is read in time', () => {
  const script = `${'\n'.repeat(1024 * 1024)}ucf "/usr/share/a" "/etc/a"\n`;
  expect(parseInstallSteps(script).copies).toEqual([{ from: '/usr/share/a', to: '/etc/a' }]);
});
