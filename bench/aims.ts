/**
 * The aims for speed and density, and what a report says about each. A bench judges its own figures (`targets` of its report); this
 * list finds the verdicts by their wording, so that every aim has a line, also one that was not measured.
 *
 * @module
 */
import type { Target } from './runner/targets.ts';

export interface Aim {
  what: string;
  aim: string;
  /** Bench with the verdicts; absent: any. */
  bench?: string;
  /** Wording of the verdicts, without separators of thousands. */
  verdicts: RegExp;
  /** What the figure consists of, for readers who see it missed. */
  obstacle: string;
}

/** What one run, or a saved report, found. */
export type Verdicts = Readonly<Record<string, readonly Target[]>>;

export interface JudgedAim {
  aim: Aim;
  /** Undefined if no bench judged it. */
  met: boolean | undefined;
  found: string;
}

const WASM = 'wasm';
const PYTHON = 'python-wasm';
const START = 'Starting Node, importing our modules and compiling the interpreter take most of it.';

export const AIMS: readonly Aim[] = [
  {
    what: 'native Python, 8 callers',
    aim: 'at least 500 calls/s, p99 at most 40 ms',
    bench: 'subprocess',
    verdicts: /\b8 callers\b/,
    obstacle:
      'Both cores are busy. Most CPU time of a fork is in the kernel: page faults of the child, its namespaces, its exit.',
  },
  {
    what: 'native Python, 32 callers',
    aim: 'at least 500 calls/s, p99 at most 40 ms',
    bench: 'subprocess',
    verdicts: /\b32 callers\b/,
    obstacle:
      'The same CPU time per fork. And at 500 calls/s, each of 32 callers waits 64 ms on average; 40 ms need 800 calls/s.',
  },
  {
    what: 'native fork, one caller',
    aim: 'at most 3 ms',
    bench: 'subprocess',
    verdicts: /(?:fork|zygote).*\b3 ms\b/,
    obstacle: 'The kernel makes namespaces, groups and mounts for the child.',
  },
  {
    what: 'Python in Wasm, one caller, rounds',
    aim: 'at most 0.8 ms',
    bench: PYTHON,
    verdicts: /\b0\.8 ms\b/,
    obstacle: 'Between bursts other variants run, and the caches of the cell and of the host are cold.',
  },
  {
    what: 'Python in Wasm, one caller, back to back',
    aim: 'at most 0.4 ms',
    bench: PYTHON,
    verdicts: /\b0\.4 ms\b/,
    obstacle: 'Restoring the memory after a call, the interpreter, and the way between two processes.',
  },
  {
    what: 'Python in Wasm, 64 callers',
    aim: 'at least 3,000 calls/s',
    bench: PYTHON,
    verdicts: /\b(?:64 callers|3000 calls)\b/,
    obstacle: 'CPU per call: two cores are busy, and the caller needs one of them for receipts and frames.',
  },
  {
    what: 'Python in Wasm, CPU per call',
    aim: 'at most 0.7 ms',
    bench: PYTHON,
    verdicts: /\b0\.7 ms\b/,
    obstacle: 'The interpreter, restoring the memory after a call, and the caller’s frames and receipt.',
  },
  {
    what: 'Python in Wasm, first call of a new program',
    aim: 'at most 100 ms',
    bench: PYTHON,
    verdicts: /\b100 ms\b/,
    obstacle: START,
  },
  {
    what: 'Python in Wasm, engine prepared on a new machine',
    aim: 'at most 2.5 s',
    bench: PYTHON,
    verdicts: /\b(?:2\.5 s|2500 ms)\b/,
    obstacle: 'Rewriting and compiling the module of Python, and running it once to take its image.',
  },
  {
    what: 'TypeScript source, one caller, rounds',
    aim: 'at most 0.7 ms',
    bench: WASM,
    verdicts: /Script\b.*\b0\.7 ms\b/,
    obstacle: 'The skill’s own work in the interpreter, cold caches between bursts, and counting fuel.',
  },
  {
    what: 'TypeScript source, 64 callers',
    aim: 'at least 3,000 calls/s',
    bench: WASM,
    verdicts: /Script\b.*\b(?:64 callers|3000 calls)\b/,
    obstacle: 'The skill’s own work in the interpreter, and the caller’s share of two cores.',
  },
  {
    what: 'component after a pause',
    aim: 'at most 0.7 ms',
    bench: WASM,
    verdicts: /\b(?:pause|rested)\b.*\b0\.7 ms\b/,
    obstacle: 'Cold caches, and a machine that needs time to wake up two processes.',
  },
  {
    what: 'memory of a warm process, component',
    aim: 'at most 18 MiB (Pss)',
    bench: WASM,
    verdicts: /\b18 MiB\b/,
    obstacle: 'Node itself, without any skill, is most of it.',
  },
  {
    what: 'memory of a warm process, JavaScript',
    aim: 'at most 32 MiB (Pss)',
    bench: WASM,
    verdicts: /\b32 MiB\b/,
    obstacle: 'Node itself, V8’s compiled code of the interpreter, and the image.',
  },
  {
    what: 'memory of a warm process, Python',
    aim: 'at most 65 MiB (Pss)',
    bench: PYTHON,
    verdicts: /\b65 MiB\b/,
    obstacle:
      'Node itself, V8’s compiled code of Python, and the image with the memory that it is restored into.',
  },
  {
    what: '200 skills, each called once a minute',
    aim: 'p99 at most 30 ms, at most 2 GiB in all',
    bench: 'density',
    verdicts: /^200 skills\b.*\b(?:30 ms|2 GiB)\b/,
    obstacle:
      'A skill without a warm process has to start one, and not all skills fit into the memory that the pool may keep.',
  },
  {
    what: '`skillcell run` (subprocess), packed package',
    aim: 'at most 180 ms',
    verdicts: /\b180 ms\b/,
    obstacle: 'Starting Node, loading the modules of the runtime, and a cold jail.',
  },
  {
    what: '`skillcell --version`, packed package',
    aim: 'at most 60 ms',
    verdicts: /\b60 ms\b/,
    obstacle: 'Starting Node takes most of it.',
  },
  {
    what: 'sha256, Python in Wasm beside native',
    aim: 'at most 1.5 times',
    bench: PYTHON,
    verdicts: /\bsha256\b/i,
    obstacle: 'Native Python has the processor’s instructions for it, Wasm does not.',
  },
  {
    what: 'CPU-bound Python in Wasm beside native, mean',
    aim: 'at most 1.77 times, as before',
    bench: PYTHON,
    verdicts: /\bmean\b/i,
    obstacle: 'An interpreter in Wasm checks every access to memory and counts fuel.',
  },
];

export function judgeAims(verdicts: Verdicts): JudgedAim[] {
  return AIMS.map((aim) => {
    const { bench } = aim;
    const judged = bench === undefined ? Object.values(verdicts).flat() : (verdicts[bench] ?? []);
    const targets = judged.filter((target) => aim.verdicts.test(withoutSeparators(target.aim)));
    return { aim, met: metBy(targets), found: targets.map(({ found }) => found).join('; ') };
  });
}

function withoutSeparators(text: string): string {
  return text.replaceAll(/(\d),(?=\d{3})/g, '$1');
}

/** One missed verdict misses the aim, and one without a figure leaves it open. */
function metBy(targets: readonly Target[]): boolean | undefined {
  if (targets.some(({ met }) => met === false)) return false;
  return targets.length > 0 && targets.every(({ met }) => met === true) ? true : undefined;
}

export function formatAims(verdicts: Verdicts): string {
  const judged = judgeAims(verdicts);
  const count = (wanted: boolean | undefined): number => judged.filter(({ met }) => met === wanted).length;
  return [
    'Aims for speed and density',
    ...judged.map(({ aim: { what, aim }, met, found }) => {
      const verdict = met === undefined ? 'not measured' : met ? 'met' : 'MISSED';
      return `${verdict.padEnd(12)}  ${what}: ${aim}${found === '' ? '' : ` (${found})`}`;
    }),
    `${count(true)} met, ${count(false)} missed, ${count(undefined)} not measured in this run.`,
  ].join('\n');
}
