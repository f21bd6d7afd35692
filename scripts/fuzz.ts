/**
 * `npm run fuzz -- [--seconds 60] [--seed N] [--runs N]`: mutates valid modules and components for a while.
 * A finding names the seed that makes it again: `npm run fuzz -- --seed <it> --runs 1`.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { corpus } from '../test/wasm/corpus.ts';
import { fuzzInstall } from './fuzz-install.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' }, runs: { type: 'string' } },
});

const report = fuzzInstall({
  corpus: corpus(),
  seconds: Number(values.seconds ?? 60),
  seed: Number(values.seed ?? Date.now() % 2 ** 31),
  ...(values.runs !== undefined && { runs: Number(values.runs) }),
});
console.log(
  `${report.runs} inputs, ${report.accepted} of them well-formed, ${report.findings.length} findings`,
);
for (const finding of report.findings) console.log(`\nSeed ${finding.seed}: ${finding.what}`);
process.exitCode = report.findings.length > 0 ? 1 : 0;
