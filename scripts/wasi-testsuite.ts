/**
 * Runs the public WASI test suite (preview1) with our installer, WASI host and file broker, and prints a Markdown table.
 *
 *     node scripts/with-node.js scripts/wasi-testsuite.ts <checkout of WebAssembly/wasi-testsuite>
 *
 * The checkout is outside the project and not part of it.
 *
 * @module
 */
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { CommandInstance } from '../guest/wasm/cell/command.ts';
import { install } from '../guest/wasm/install/plan.ts';
import { BrokerError, type BrokerClient } from '../guest/wasm/wasi/broker-client.ts';
import { createWasi } from '../guest/wasm/wasi/host.ts';
import { openBroker } from '../src/broker/broker.ts';
import { BrokerRefusal } from '../src/cell/contract.ts';
import type { Bundle } from '../src/load/bundle.ts';
import type { Grant } from '../src/policy/grant.ts';

const TIMEOUT_MS = 10_000;
const FUEL = 100_000_000_000n;

/** The description of a test in the file next to it. */
interface Expectation {
  args?: string[];
  env?: Record<string, string>;
  /** Folder that is copied for the test. */
  root?: string;
  exit_code?: number;
  stdout?: string;
}

interface Row {
  test: string;
  passed: boolean;
  remark: string;
}

async function main([checkout]: string[]): Promise<number> {
  if (checkout === undefined) throw new Error('Pass the path of a checkout of WebAssembly/wasi-testsuite');
  const files = globSync('tests/*/testsuite/wasm32-wasip1/*.wasm', { cwd: checkout }).toSorted();
  const rows: Row[] = [];
  for (const file of files) rows.push(await runTest(join(checkout, file)));
  console.log('| test | result |\n|---|---|');
  for (const { test, passed, remark } of rows) if (!passed) console.log(`| ${test} | ${remark} |`);
  const passed = rows.filter((row) => row.passed).length;
  console.log(`\n${passed} of ${rows.length} pass; the table lists the others.`);
  return 0;
}

async function runTest(file: string): Promise<Row> {
  const spec = file.replace(/\.wasm$/, '.json');
  const expected = existsSync(spec) ? (JSON.parse(readFileSync(spec, 'utf8')) as Expectation) : {};
  const folder = mkdtempSync(join(tmpdir(), 'wasi-testsuite-'));
  if (expected.root !== undefined) cpSync(join(dirname(file), expected.root), folder, { recursive: true });
  try {
    const { end, output } = await withDeadline(runCommand(file, expected, folder));
    const wanted = `exit ${expected.exit_code ?? 0}`;
    const passed = end === wanted && (expected.stdout === undefined || output === expected.stdout);
    return { test: basename(file, '.wasm'), passed, remark: passed ? '' : `${end} ${lastLine(output)}` };
  } catch (error) {
    return { test: basename(file, '.wasm'), passed: false, remark: String(error).slice(0, 200) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runCommand(
  file: string,
  expected: Expectation,
  folder: string,
): Promise<{ end: string; output: string }> {
  const { plan, modules } = install(readFileSync(file), { maxPages: 4096 });
  const [facts, bytes] = [plan.modules[0], modules[0]];
  if (!facts || !bytes) throw new Error('no module');
  const wasi = createWasi();
  let output = '';
  const host = wasi.createHost({
    broker: brokerFor(folder),
    env: expected.env ?? {},
    args: [basename(file), ...(expected.args ?? [])],
    preopens: expected.root === undefined ? [] : [{ id: 1, guestPath: '/', writable: true }],
    onOutput: (_, text) => (output += Buffer.from(text).toString('utf8')),
  });
  const imports = wasi.preview1((call) => new WebAssembly.Suspending(call));
  const module = new WebAssembly.Module(bytes);
  const outcome = await new CommandInstance({ module, facts, imports }, host, FUEL).run();
  host.finish();
  return { end: outcome.kind === 'exit' ? `exit ${outcome.code}` : JSON.stringify(outcome), output };
}

/** Our own broker, called without a process in between. */
function brokerFor(folder: string): BrokerClient {
  const limits = { timeout: 0, cpu: 0, memory: 0, output: 0, processes: 0, scratch: 0 };
  const filesystem: Grant['filesystem'] = [{ host: folder, guest: '/', access: 'read-write' }];
  const grant: Grant = { filesystem, network: [], env: {}, syscalls: 'default', limits, withheld: [] };
  const broker = openBroker(grant, { stagedDir: folder } as Bundle);
  return {
    async request(op, args, bytes) {
      try {
        const { value, payload } = await broker.handle({ op, args, ...(bytes ? { payload: bytes } : {}) });
        return { value, ...(payload ? { bytes: payload } : {}) };
      } catch (error) {
        throw new BrokerError(error instanceof BrokerRefusal ? error.code : 'io');
      }
    },
  };
}

function withDeadline<T>(work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('the test timed out')), TIMEOUT_MS).unref();
  });
  return Promise.race([work, late]);
}

function lastLine(text: string): string {
  return (text.trim().split('\n').at(-1) ?? '').replaceAll('|', '/').slice(0, 150);
}

process.exitCode = await main(process.argv.slice(2));
