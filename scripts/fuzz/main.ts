/**
 * `npm run fuzz -- [--minutes 5] [--only NAME] [--seed S] [--runs N]`: divides the time among the targets.
 * A finding prints the command that reproduces it: `npm run fuzz -- --only NAME --seed S --runs 1`.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { FUZZ_TARGETS } from './targets.ts';
import type { FuzzTarget } from './target.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    only: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string' },
    runs: { type: 'string' },
  },
});

const targets = chosenTargets(values.only);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : numberOf('seed', values.seed);
const runs = values.runs === undefined ? undefined : numberOf('runs', values.runs);
const seconds = (numberOf('minutes', values.minutes) * 60) / targets.length;
let findings = 0;
for (const target of targets) findings += await runTarget(target);
process.exitCode = findings > 0 ? 1 : 0;

async function runTarget(target: FuzzTarget): Promise<number> {
  const report = await target.run({ seconds, seed, ...(runs !== undefined && { runs }) });
  console.log(
    `${target.name}: ${report.runs} inputs from seed ${seed}, ${report.accepted} accepted, ${report.findings.length} findings`,
  );
  for (const finding of report.findings)
    console.log(
      `\n${finding.what}\nReproduce it: npm run fuzz -- --only ${target.name} --seed ${finding.seed} --runs 1\n`,
    );
  return report.findings.length;
}

function chosenTargets(names: readonly string[]): readonly FuzzTarget[] {
  const known = FUZZ_TARGETS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) fail(`There is no target "${unknown}". Targets: ${known.join(', ')}`);
  return names.length === 0 ? FUZZ_TARGETS : FUZZ_TARGETS.filter(({ name }) => names.includes(name));
}

function numberOf(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    fail(`--${option} needs a number, not "${text}"`);
  return value;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
