/**
 * What this machine has to run skills with: its walls and engines, and which pair can run which bundle.
 *
 * @module
 */
import type { Bundle, FileDigests } from '../load/bundle.ts';
import type { Inspection } from '../load/inspection.ts';
import type { EngineName, Mode, WallName } from '../outcome.ts';
import type { Candidate } from '../policy/choose-mode.ts';
import type { EnforcementTable } from '../policy/enforcement.ts';
import type { Artifact, Engine, Wall, WallProbe } from './contract.ts';
import { DEFAULT_CELL_ID } from './jail/identity.ts';
import { JailWall, type JailOptions } from './jail/wall.ts';
import { PythonEngine } from './python/engine.ts';
import { inspectPython } from './python/inspect.ts';
import { findInterpreter, type Interpreter } from './python/interpreter.ts';
import { installRequirements } from './python/requirements.ts';

export interface MachineOptions {
  home: string;
  jail?: JailOptions;
}

/** One line of `doctor`: a pair of wall and engine, and who enforces what in it. */
export interface PairReport {
  mode: Mode;
  wall: WallName;
  engine: EngineName;
  available: boolean;
  summary: string;
  fix?: string;
  enforces: EnforcementTable;
}

export class Machine {
  readonly wall: Wall;
  readonly engine: Engine;
  readonly #home: string;
  readonly #interpreter: Interpreter | undefined;
  readonly #artifacts = new Map<string, Promise<Artifact>>();

  constructor({ home, jail }: MachineOptions) {
    const wall = new JailWall(jail);
    this.#home = home;
    this.#interpreter = findInterpreter();
    this.wall = wall;
    this.engine = new PythonEngine({ home, wall, interpreter: this.#interpreter });
  }

  /** The group that may pass through the runtime's folders when the host is root. */
  static cellGroup(options?: JailOptions): number {
    return options?.cellId ?? DEFAULT_CELL_ID;
  }

  /** Every way to run this bundle here, strongest first. */
  async candidates(bundle: Bundle): Promise<Candidate[]> {
    const probe = await this.wall.probe();
    const reason = probe.available ? this.engine.refuses(bundle) : probe.summary;
    const pair = { mode: 'subprocess', wall: this.wall.name, engine: this.engine.name } as const;
    if (reason === undefined) return [pair];
    return [
      {
        ...pair,
        refusal: { reason, fix: probe.fix ?? 'Run `skillcell doctor` to see what this machine has.' },
      },
    ];
  }

  async enforcement(): Promise<EnforcementTable> {
    return (await this.wall.probe()).enforces;
  }

  /** What the engine made of the bundle; the same bundle is prepared once. */
  prepare(bundle: Bundle): Promise<Artifact> {
    const key = `${bundle.digest} ${bundle.stagedDir}`;
    const known = this.#artifacts.get(key);
    if (known) return known;
    const artifact = this.engine.prepare(bundle);
    this.#artifacts.set(key, artifact);
    // A failure may be mended, e.g. by installing what was missing.
    artifact.catch(() => this.#artifacts.delete(key));
    return artifact;
  }

  inspect(stagedDir: string, files: FileDigests): Promise<Inspection> {
    return inspectPython(
      { home: this.#home, wall: this.wall, interpreter: this.#interpreter },
      stagedDir,
      files,
    );
  }

  /** Installs third-party packages of a bundle; returns their folder, if it needs any. */
  async installRequirements(bundle: Bundle): Promise<string | undefined> {
    if (!this.#interpreter || !bundle.entry.endsWith('.py')) return undefined;
    return installRequirements({ home: this.#home, interpreter: this.#interpreter, bundle });
  }

  async report(): Promise<PairReport[]> {
    const probe = await this.wall.probe();
    const python = this.#interpreter;
    const available = probe.available && python !== undefined;
    const summary = python
      ? `${probe.summary}; Python ${python.version} (${python.path})`
      : `${probe.summary}; no system Python`;
    return [
      {
        mode: 'subprocess',
        wall: this.wall.name,
        engine: this.engine.name,
        available,
        summary,
        ...fixOf(probe, python),
        enforces: probe.enforces,
      },
    ];
  }

  close(): Promise<void> {
    return this.wall.close();
  }
}

function fixOf(probe: WallProbe, python: Interpreter | undefined): { fix?: string } {
  if (probe.fix !== undefined) return { fix: probe.fix };
  return python ? {} : { fix: 'Install it: apt-get install python3' };
}
