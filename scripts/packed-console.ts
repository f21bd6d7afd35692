/**
 * Starts the service of an installed package and requests the parts of its console: `packed-console.ts FOLDER`.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PARTS = ['/', '/ui/style.css', '/ui/icon.svg', '/ui/main.js', '/ui/views/skill.js'];

const home = mkdtempSync(join(tmpdir(), 'skillcell-packed-'));
const command = join(process.argv[2] ?? '', 'bin/skillcell.js');
const service = spawn(process.execPath, [command, 'serve', '--port', '0'], {
  env: { ...process.env, SKILLCELL_HOME: home },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const [line] = (await once(service.stdout, 'data')) as [Buffer];
  const url = /http:\S+/.exec(line.toString())?.[0] ?? '';
  const answers = await Promise.all(PARTS.map((part) => fetch(url + part)));
  answers.forEach(({ status }, at) => console.log(`${status} ${PARTS[at]}`));
  process.exitCode = answers.every(({ ok }) => ok) ? 0 : 1;
} finally {
  service.kill('SIGTERM');
  await once(service, 'exit');
  rmSync(home, { recursive: true, force: true });
}
