/**
 * The modes side by side: what encloses a call, what it costs, what enforces each limit.
 *
 * @module
 */
import { newestResult, newestResultIfAny } from '../../bench/saved-results.ts';
import type { ContainerReport } from '../../bench/runner/container/run-container-bench.ts';
import { coldName, poolName } from '../../bench/runner/container/targets.ts';
import { COLD, POOL, ZYGOTE } from '../../bench/runner/ours.ts';
import { PLAIN } from '../../bench/runner/plain.ts';
import { IN_JAIL } from '../../bench/runner/python-wasm/ours.ts';
import { PYTHON_PEER_NAMES } from '../../bench/runner/python-wasm/peers.ts';
import type { PythonWasmReport } from '../../bench/runner/python-wasm/run-python-wasm-bench.ts';
import type { BenchReport } from '../../bench/runner/run-bench.ts';
import type { Row } from '../../bench/runner/statistics.ts';
import { C, GO, RUST, SOURCE } from '../../bench/runner/wasm/languages.ts';
import { rowName } from '../../bench/runner/wasm/ours.ts';
import type { WasmReport } from '../../bench/runner/wasm/run-wasm-bench.ts';
import type { Mode } from '../../src/vocabulary/modes.ts';
import type { ModeStudy } from '../../src/study/report.ts';
import type { PyodideReport } from '../probe-pyodide.ts';
import { duration, mebibytes } from '../python-wasm-tables.ts';
import { table } from '../skillware-table.ts';
import type { BundledReport } from '../study-bundled.ts';

const jail = (): BenchReport => newestResult() as BenchReport;
const wasm = (): WasmReport => newestResult('wasm') as WasmReport;
const python = (): PythonWasmReport => newestResult('python-wasm') as PythonWasmReport;
const pyodide = (): PyodideReport => newestResult('pyodide') as PyodideReport;

/** For the README's first screen: enough to choose a mode. */
export function formatModes(): string {
  return table([
    ['`execution`', 'runs', 'isolation', 'one fresh call, median', 'enforced by'],
    [
      '`wasm`',
      'Rust, Go, C, AssemblyScript, … as components; Python, TypeScript, JavaScript as source',
      'two walls: WebAssembly with no authority of its own, inside a jailed process',
      wasmCalls(),
      'Wasm: memory, fuel · broker: files, network, secrets · watchdog: time',
    ],
    [
      '`subprocess`',
      'the system’s Python; Node',
      'one wall: a jail made of namespaces, seccomp, rlimits, and a cgroup if writable',
      jailCalls(),
      'kernel: files, processes, system calls, memory · gateway: network, secrets · watchdog: time',
    ],
    [
      '`container`',
      'any OCI image',
      'one wall: the machine’s OCI runtime or engine, with Skillcell’s limits',
      containerCalls(),
      'runtime: files, processes, memory · gateway: network, secrets · watchdog: time',
    ],
    [
      '`in_process`',
      'JavaScript, TypeScript',
      '**none**; needs a bundled skill or `--trust-remote-code`',
      inProcessCalls(),
      'nobody; a manifest with limits does not load',
    ],
  ]);
}

/** The ways to run untrusted Python skills, compared from the point of view of operators and authors. */
export function formatWays(): string {
  const { start, crowd } = python();
  const container = containerTimes();
  return table([
    ['', 'trust flag (no isolation)', '`subprocess`', '`wasm`', '`container`', 'Pyodide as it comes'],
    ['walls', 'none', '1', '2', '1', 'none designed as one'],
    ['runs an unchanged skill.py', 'yes', 'yes', 'yes', 'yes', 'with a loader'],
    ['native packages', 'all', 'all wheels', 'few wheels', 'all', 'only its own distribution'],
    ['the machine needs', 'Python', 'bubblewrap, Python', 'npm only', 'an OCI runtime or engine', 'npm only'],
    [
      'first call, engine start included',
      duration(pythonRow(PLAIN)?.median),
      duration(pythonRow(COLD)?.median),
      duration(start.firstCallMs),
      duration(container.cold),
      duration(pythonRow(PYTHON_PEER_NAMES.pyodideCold)?.median),
    ],
    [
      'later fresh call',
      'not fresh',
      duration(pythonRow(POOL)?.median),
      duration(pythonRow(IN_JAIL)?.median),
      duration(container.ready),
      duration(pythonRow(PYTHON_PEER_NAMES.pyodideSnapshot)?.median),
    ],
    [
      'idle memory',
      'none',
      mebibytes(jail().cellBytes),
      mebibytes(crowd.cellBytes),
      '',
      mebibytes(pyodide().residentBytes),
    ],
    [
      'on disk, in addition to the skill',
      'Python',
      'Python',
      mebibytes(start.engineBytes),
      'the image',
      mebibytes(pyodide().packageBytes),
    ],
  ]);
}

/** Pyodide as published on npm, in figures. */
export function formatPyodide(): string {
  const { version, packageBytes, residentBytes, worked } = pyodide();
  const reached = Object.values(worked).filter(Boolean).length;
  return table([
    [`Pyodide ${version}`, ''],
    ['a process per call', duration(pythonRow(PYTHON_PEER_NAMES.pyodideCold)?.median)],
    ['loaded again in a warm process', duration(pythonRow(PYTHON_PEER_NAMES.pyodideLoaded)?.median)],
    ['restored from its own snapshot', duration(pythonRow(PYTHON_PEER_NAMES.pyodideSnapshot)?.median)],
    ['Skillcell’s engine, same call', duration(pythonRow(IN_JAIL)?.median)],
    ['on disk', mebibytes(packageBytes)],
    ['memory after loading', mebibytes(residentBytes)],
    [
      'escapes from Python to the host that worked, of those tried',
      `${reached} of ${Object.keys(worked).length}`,
    ],
  ]);
}

function wasmCalls(): string {
  const { rows } = wasm();
  const found = [C, RUST, SOURCE, GO].map((language) => {
    const row = rows.find(({ name }) => name === rowName(language, 'jail'));
    return row && `${language.replace(/ \(.*/, '')} ${duration(row.median)}`;
  });
  return [...found, `Python ${duration(pythonRow(IN_JAIL)?.median)}`].filter(Boolean).join(', ');
}

function jailCalls(): string {
  const rows = jail().jobs[0]?.rows ?? [];
  const median = (wanted: string): string => duration(rows.find(({ name }) => name === wanted)?.median);
  return `Python ${median(POOL)} from the pool, ${median(ZYGOTE)} forked, ${median(COLD)} cold`;
}

function containerCalls(): string {
  const { cold, ready } = containerTimes();
  if (cold === undefined) return 'not measured';
  return `Python ${ready === undefined ? '' : `${duration(ready)} from the pool, `}${duration(cold)} cold`;
}

/** From the bench, the fastest backend of each way, otherwise from the study of the bundled skill that has an image. */
function containerTimes(): { cold?: number | undefined; ready?: number | undefined } {
  const report = newestResultIfAny('container') as ContainerReport | undefined;
  if (!report) {
    const [measured] = studied('container');
    return { cold: measured?.firstCallMs, ready: measured?.callMs };
  }
  const quickest = (way: string): number | undefined =>
    report.rows
      .filter(({ name }) => name.endsWith(way))
      .map(({ median }) => median)
      .toSorted((a, b) => a - b)[0];
  return { cold: quickest(coldName('')), ready: quickest(poolName('')) };
}

function inProcessCalls(): string {
  const [measured] = studied('in_process');
  return measured ? `not fresh; TypeScript ${duration(measured.callMs)}` : 'not fresh';
}

/** What the study of the bundled skills measured in a mode. */
function studied(mode: Mode): ModeStudy[] {
  const { study } = newestResult('study') as BundledReport;
  const modes = study.skills.flatMap((skill) => skill.modes);
  return modes.filter((one) => one.mode === mode && one.callMs !== undefined);
}

function pythonRow(wanted: string): Row | undefined {
  return python().jobs[0]?.rows.find(({ name }) => name === wanted);
}
