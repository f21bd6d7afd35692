/**
 * `npm run bench [-- --rounds N]`: ours, plain Python and another sandbox in the same rounds of one run.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeer, Peer } from './peer.ts';
import { runBench, type BenchReport } from './runner/run-bench.ts';
import { formatReport } from './runner/table.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '40' }, seconds: { type: 'string', default: '5' } },
});
const settings = { rounds: Number(values.rounds), seconds: Number(values.seconds) };

const refusal = installPeer();
if (refusal === undefined) await benchWithPeer();
else {
  console.log(`Left out: @anthropic-ai/sandbox-runtime, because ${refusal}.`);
  publish(await runBench(settings), {});
}

async function benchWithPeer(): Promise<void> {
  await using peer = await Peer.start();
  const report = await runBench({ ...settings, peer });
  publish(report, { peerInitializeMs: peer.initializeMs });
}

function publish(report: BenchReport, extra: { peerInitializeMs?: number }): void {
  console.log(formatReport(report));
  if (extra.peerInitializeMs !== undefined) {
    console.log(`The peer took ${extra.peerInitializeMs.toFixed(0)} ms to initialise, once; no row has it.`);
  }
  const { date, arch, cores } = report.machine;
  const folder = join(import.meta.dirname, 'results');
  const file = join(folder, `${date.slice(0, 10)}-linux-${arch}-${cores}-cores.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...report, ...extra }, rounded, 2)}\n`);
  console.log(`Written to ${file}`);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(3)) : value;
}
