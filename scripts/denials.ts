/**
 * `npm run denials`: performs denied operations in every mode and prints the answers; `-- --write` updates the table in
 * docs/denials.md. Fails if an answer differs between modes.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBase } from '../src/build/container/base-image.ts';
import { runDenials } from './denials/run.ts';
import { formatDenials } from './denials/table.ts';
import { ROOT, runTool } from './steps.ts';

const DOCUMENT = join(ROOT, 'docs', 'denials.md');
const MARKED = /<!-- denials -->[^]*<!-- \/denials -->/;

const { rows, harm } = await runDenials((home) => buildBase('python', { home }));
const table = formatDenials(rows);
console.log(table);
for (const { act, cells } of rows) {
  for (const [title, { answer, why }] of Object.entries(cells)) {
    if (answer === 'n/a' || answer === 'stopped' || answer === act.answer) continue;
    console.log(`differs: ${act.name} in ${title}: ${answer} (${why})`);
    process.exitCode = 1;
  }
}
for (const request of harm) console.log(`reached a server: ${request}`);
if (harm.length > 0) process.exitCode = 1;
if (process.argv.includes('--write')) {
  const text = readFileSync(DOCUMENT, 'utf8');
  writeFileSync(
    DOCUMENT,
    text.replace(MARKED, () => `<!-- denials -->\n\n${table}\n\n<!-- /denials -->`),
  );
  runTool('oxfmt', [DOCUMENT]);
}
