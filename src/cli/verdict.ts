/**
 * The short answer of `doctor`: what runs on this machine, what is refused, and the step that adds most.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import type { EnforcedField } from '../vocabulary/capabilities.ts';
import { DECLARED_LIMITS } from '../vocabulary/limits.ts';
import type { PairReport } from '../inside.ts';

/**
 * `partial`: runs, but a skill that sets one of the limits in `refuses` is refused. `unisolated`: runs trusted code, with no
 * limit at all.
 */
export type PairState = 'available' | 'partial' | 'unisolated' | 'unavailable';

export interface JudgedPair extends PairReport {
  state: PairState;
  /** Limits that nobody enforces here, so that skills that set them are refused. */
  refuses: EnforcedField[];
}

export interface NextStep {
  /** A command or a sentence that names one. */
  step: string;
  adds: string;
}

export interface Verdict {
  pairs: JudgedPair[];
  next: NextStep | undefined;
}

/** Facts of the machine outside the pairs; a parameter for tests. */
export interface Surroundings {
  hasSystemd: boolean;
}

const LANGUAGES: Readonly<Record<PairReport['engine'], string>> = {
  component: 'components',
  'python-wasm': 'Python',
  'js-wasm': 'JavaScript and TypeScript',
  python: 'Python',
  node: 'JavaScript and TypeScript',
  exec: 'programs in images',
  script: 'scripts of Agent Skills',
};

export function surroundings(): Surroundings {
  // Delegation to a user needs systemd and cgroup v2.
  return { hasSystemd: existsSync('/run/systemd/system') && existsSync('/sys/fs/cgroup/cgroup.controllers') };
}

export function judgePairs(reports: readonly PairReport[], around: Surroundings): Verdict {
  const pairs = reports.map(judge);
  return { pairs, next: nextStep(pairs, around) };
}

function judge(pair: PairReport): JudgedPair {
  const refuses = DECLARED_LIMITS.filter((limit) => pair.enforces[limit].by === 'nobody');
  return { ...pair, state: stateOf(pair, refuses), refuses };
}

function stateOf({ available, wall }: PairReport, refuses: readonly EnforcedField[]): PairState {
  if (!available) return 'unavailable';
  if (wall === 'none') return 'unisolated';
  return refuses.length > 0 ? 'partial' : 'available';
}

/** At most five lines. */
export function verdictLines({ pairs, next }: Verdict): string[] {
  const of = (state: PairState): JudgedPair[] => pairs.filter((pair) => pair.state === state);
  const partial = of('partial').map(
    (pair) => `${nameOf(pair)}: a skill that limits ${pair.refuses.join(' or ')} is refused`,
  );
  const missing = of('unavailable');
  const walls = [...new Set([...of('available'), ...of('partial')].map(({ wall }) => wall))];
  return [
    `runs      ${byMode(of('available')) || 'nothing in full'}`,
    `partly    ${partial.join('; ') || 'nothing: what runs here has every limit'}`,
    `not here  ${byMode(missing) || 'nothing: every mode is available'}`,
    `walls     ${walls.map((wall) => describeWall(wall, pairs)).join('; ') || 'none'}`,
    `next      ${next ? `To add ${next.adds}: ${next.step}` : 'nothing to add'}`,
  ];
}

function byMode(pairs: readonly JudgedPair[]): string {
  const modes = Map.groupBy(pairs, ({ mode }) => mode);
  return [...modes].map(([mode, group]) => `${mode} (${group.map(languageOf).join(', ')})`).join('; ');
}

function nameOf(pair: JudgedPair): string {
  return `${pair.mode} (${languageOf(pair)})`;
}

function languageOf({ engine }: JudgedPair): string {
  return LANGUAGES[engine];
}

function describeWall(wall: PairReport['wall'], pairs: readonly JudgedPair[]): string {
  if (wall === 'process') return 'process: only WebAssembly isolates, because there is no jail';
  const [summary = ''] = pairs.find((pair) => pair.wall === wall && pair.available)?.summary.split(';') ?? [];
  return `${wall}: ${summary}`;
}

/** The first that applies: a jail adds a mode and a wall, Python a language, a cgroup a limit, an engine containers. */
function nextStep(pairs: readonly JudgedPair[], { hasSystemd }: Surroundings): NextStep | undefined {
  const missing = (mode: string, engine: string): JudgedPair | undefined =>
    pairs.find((pair) => pair.mode === mode && pair.engine === engine && pair.state === 'unavailable');
  const jail = missing('subprocess', 'node');
  if (jail?.fix !== undefined) return { step: jail.fix, adds: 'the mode subprocess, and a jail around wasm' };
  const python = missing('subprocess', 'python');
  if (python?.fix !== undefined) return { step: python.fix, adds: 'Python in subprocess' };
  const partial = pairs.find(({ state }) => state === 'partial');
  if (partial)
    return {
      step: hasSystemd
        ? 'systemd-run --user --scope -p Delegate=yes skillcell doctor'
        : 'Run Skillcell as root, or delegate a cgroup to this user (docs/operators.md).',
      adds: `limits on ${partial.refuses.join(', ')} for ${nameOf(partial)}`,
    };
  const container = missing('container', 'exec');
  // An engine that is installed and does not start needs another remedy than installing it.
  if (container?.fix !== undefined && !container.summary.includes('cannot start'))
    return { step: container.fix, adds: 'container images' };
  return undefined;
}
