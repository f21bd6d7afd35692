/**
 * What this machine has to run skills with: pairs of wall and engine, strongest first, and which can run which bundle.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { sharedEngines } from '../load/home.ts';
import type { Bundle, FileDigests } from '../load/bundle.ts';
import type { Inspection } from '../load/inspection.ts';
import type { WaysToRun } from '../load/load-bundle.ts';
import { pinLines, type Pins } from '../load/pins.ts';
import type { Skill } from '../load/skill.ts';
import type { Offload } from '../offload/offload.ts';
import type { EngineName, Mode, WallName } from '../outcome.ts';
import type { Candidate } from '../policy/choose-mode.ts';
import type { EnforcementTable } from '../policy/enforcement.ts';
import type { PythonFreshness } from '../policy/python-freshness.ts';
import type { ContainerWallOptions } from './container/contract.ts';
import { ExecEngine } from './container/engines/exec.ts';
import { ContainerPythonEngine } from './container/engines/python.ts';
import { imageHere, imageToPin, installImage } from './container/images/of-bundle.ts';
import { createImageStore, type LocalImages } from './container/images/store.ts';
import { ContainerWall } from './container/wall.ts';
import type { Artifact, Engine, Wall, WallProbe } from './contract.ts';
import { DEFAULT_CELL_ID } from './jail/identity.ts';
import { JailWall, type JailOptions } from './jail/wall.ts';
import { NodeSkillEngine } from './node-skill/engine.ts';
import { NoWall } from './node-skill/no-wall.ts';
import { JsWasmEngine } from './js-wasm/engine.ts';
import { ProcessWall } from './process/wall.ts';
import { PinnedSkills } from './pinned-skills.ts';
import { PythonWasmEngine } from './python-wasm/engine.ts';
import { wasmInspector } from './python-wasm/inspect.ts';
import { installWasmEnvironment, rememberRefusal, wasmPackages } from './python-wasm/requirements.ts';
import { PythonEngine } from './python/engine.ts';
import { inspectPython, jailInspector, type Inspector } from './python/inspect.ts';
import { findInterpreter, type Interpreter } from './python/interpreter.ts';
import { installRequirements, packagesFor } from './python/requirements.ts';
import { ComponentEngine } from './wasm/engine.ts';

export interface MachineOptions {
  home: string;
  jail?: JailOptions;
  container?: ContainerWallOptions | undefined;
  /** Gets a sentence for people when something takes more than a moment. */
  onProgress?: ((text: string) => void) | undefined;
  /** What the operator asks of Python in Wasm. */
  python?: PythonFreshness | undefined;
  offload: Offload;
}

/** A way to run skills. */
export interface Pair {
  mode: Mode;
  wall: Wall;
  engine: Engine;
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
  /** Skillcell's own folder. */
  readonly home: string;
  readonly #offload: Offload;
  readonly #images: LocalImages;
  readonly #jail: JailWall;
  readonly #process = new ProcessWall();
  readonly #container: ContainerWall;
  readonly #none = new NoWall();
  readonly #python: PythonEngine;
  readonly #node: NodeSkillEngine;
  readonly #component: ComponentEngine;
  readonly #pythonWasm: PythonWasmEngine;
  readonly #jsWasm: JsWasmEngine;
  readonly #containerPython: ContainerPythonEngine;
  readonly #exec: ExecEngine;
  readonly #interpreter: Interpreter | undefined;
  readonly #artifacts = new Map<string, Promise<Artifact>>();
  readonly #pinned = new PinnedSkills((bundle) => this.#pins(bundle));
  #pairs: Promise<Pair[]> | undefined;

  constructor({ home, jail, container, onProgress, python, offload }: MachineOptions) {
    this.home = home;
    this.#offload = offload;
    this.#jail = new JailWall(jail);
    this.#interpreter = findInterpreter();
    this.#python = new PythonEngine({ home, wall: this.#jail, interpreter: this.#interpreter });
    this.#node = new NodeSkillEngine({ home });
    this.#component = new ComponentEngine({ home, wall: () => this.#outerWall() });
    this.#pythonWasm = new PythonWasmEngine({
      home,
      wall: () => this.#outerWall(),
      shared: sharedEngines(),
      onProgress,
      fresh: python,
    });
    this.#jsWasm = new JsWasmEngine({ home, wall: () => this.#outerWall() });
    const images = createImageStore({ home, onProgress });
    this.#images = images;
    this.#container = new ContainerWall({ home, ...container });
    this.#containerPython = new ContainerPythonEngine({ home, images, interpreter: this.#interpreter });
    this.#exec = new ExecEngine({ images });
  }

  /** The group that may pass through the runtime's folders when the host is root. */
  static cellGroup(options?: JailOptions): number {
    return options?.cellId ?? DEFAULT_CELL_ID;
  }

  /** Every pair that this version has, strongest first. Finding out takes a real try of the walls. */
  pairs(): Promise<Pair[]> {
    this.#pairs ??= this.#outerWall().then((outer) => [
      { mode: 'wasm', wall: outer, engine: this.#component },
      { mode: 'wasm', wall: outer, engine: this.#pythonWasm },
      { mode: 'wasm', wall: outer, engine: this.#jsWasm },
      { mode: 'subprocess', wall: this.#jail, engine: this.#python },
      { mode: 'subprocess', wall: this.#jail, engine: this.#node },
      { mode: 'container', wall: this.#container, engine: this.#containerPython },
      { mode: 'container', wall: this.#container, engine: this.#exec },
      { mode: 'in_process', wall: this.#none, engine: this.#node },
    ]);
    return this.#pairs;
  }

  /** Every way to run this bundle here, in the order of `pairs`. */
  async candidates(bundle: Bundle): Promise<Candidate[]> {
    return Promise.all((await this.pairs()).map((pair) => candidate(pair, bundle)));
  }

  /** What the engine made of the bundle; the same bundle is prepared once. */
  prepare({ mode, engine }: Pick<Pair, 'mode' | 'engine'>, bundle: Bundle): Promise<Artifact> {
    const key = JSON.stringify([mode, engine.name, bundle.digest, bundle.stagedDir, pinLines(bundle)]);
    const known = this.#artifacts.get(key);
    if (known) return known;
    const artifact = engine.prepare(bundle);
    this.#artifacts.set(key, artifact);
    // A failure may be mended, e.g. by installing what was missing.
    artifact.catch(() => this.#artifacts.delete(key));
    return artifact;
  }

  /** What the sources and binaries of a staged bundle say about themselves. */
  async inspect(stagedDir: string, files: FileDigests, { entry, execution }: WaysToRun): Promise<Inspection> {
    const options = { home: this.home, inspector: () => this.#inspector(execution), offload: this.#offload };
    const python = await inspectPython(options, stagedDir, files);
    const interfaces = await this.#component.inspect(stagedDir, files);
    const scripts = await this.#jsWasm.inspect(stagedDir, files, entry);
    if (!scripts) return { ...python, interfaces };
    return {
      ...scripts,
      modules: python.modules,
      interfaces,
      env: [...python.env, ...scripts.env],
      hosts: [...python.hosts, ...scripts.hosts],
      unparsed: [...python.unparsed, ...scripts.unparsed],
    };
  }

  /** Installs third-party packages of a bundle for the engines that it may run in. */
  async installRequirements(bundle: Bundle): Promise<void> {
    const [home, interpreter] = [this.home, this.#interpreter];
    if (!interpreter || !bundle.entry.endsWith('.py')) return;
    const mayRunIn = modesOf(bundle);
    const refusal = mayRunIn('wasm')
      ? await installWasmEnvironment({
          home,
          bundle,
          interpreter,
          link: (packages) => this.#pythonWasm.images(packages),
        })
      : undefined;
    if (!mayRunIn('subprocess') && refusal !== undefined) throw notPure(refusal);
    if (mayRunIn('subprocess')) await installRequirements({ home, interpreter, bundle });
    // The index could be reached, so it was not for want of a network.
    if (refusal !== undefined) rememberRefusal({ home, bundle }, refusal);
  }

  /** The skill with the image and packages that a call would use now. */
  pin(skill: Skill): Promise<Skill> {
    return this.#pinned.pin(skill);
  }

  /** What a call of this bundle would use of this machine, as far as it is here. */
  async #pins(bundle: Bundle): Promise<Pins> {
    const [home, interpreter] = [this.home, this.#interpreter];
    const mayRunIn = modesOf(bundle);
    const isPython = bundle.entry.endsWith('.py');
    const image = mayRunIn('container') ? await imageHere(this.#images, bundle) : undefined;
    const native =
      isPython && interpreter && mayRunIn('subprocess')
        ? packagesFor({ home, interpreter, bundle })
        : undefined;
    const wasm = isPython && mayRunIn('wasm') ? wasmPackages({ home, bundle }) : undefined;
    const packages = { ...(native && { python: native }), ...(wasm && { 'python-wasm': wasm }) };
    return { ...(image === undefined ? {} : { image }), ...(native || wasm ? { packages } : {}) };
  }

  /** Digest of the container image that a new lock of a bundle pins, when there is one. */
  imageToPin(bundle: Bundle): Promise<string | undefined> {
    return imageToPin(this.#images, bundle);
  }

  /** Fetches the container image of a bundle. Returns what stands in the way when another mode could do without it. */
  installImage(bundle: Bundle): Promise<string | undefined> {
    return installImage(this.#images, bundle);
  }

  async report(): Promise<PairReport[]> {
    return Promise.all((await this.pairs()).map((pair) => this.#reportPair(pair)));
  }

  async close(): Promise<void> {
    await Promise.all([this.#jail.close(), this.#process.close(), this.#container.close()]);
    // Last: what a skill left behind in the host may print until then.
    this.#node.close();
  }

  /** Wasm is a wall of its own; around it comes the strongest that can be had. */
  async #outerWall(): Promise<Wall> {
    return (await this.#jail.probe()).available ? this.#jail : this.#process;
  }

  /** The Python that will run it, as versions differ in syntax. Where several may, the system's, which starts faster. */
  async #inspector(execution: readonly Mode[]): Promise<Inspector> {
    const outer = await this.#outerWall();
    const interpreter = this.#interpreter;
    const onlyInWasm = execution.length > 0 && execution.every((mode) => mode === 'wasm');
    const hasWasm = this.#pythonWasm.missing() === undefined;
    if (outer !== this.#jail || !interpreter || (onlyInWasm && hasWasm))
      return wasmInspector(this.#pythonWasm, outer);
    return jailInspector({ home: this.home, wall: outer, interpreter });
  }

  async #reportPair({ mode, wall, engine }: Pair): Promise<PairReport> {
    const probe = await wall.probe();
    const missing = engine.missing();
    return {
      mode,
      wall: wall.name,
      engine: engine.name,
      available: probe.available && missing === undefined,
      summary: `${probe.summary}; ${missing?.reason ?? engine.describe()}`,
      ...fixOf(probe, missing?.fix),
      enforces: engine.enforces(probe.enforces),
    };
  }
}

async function candidate({ mode, wall, engine }: Pair, bundle: Bundle): Promise<Candidate> {
  const pair = { mode, wall: wall.name, engine: engine.name };
  const fallback = 'Run `skillcell doctor` to see what this machine has.';
  const reason = engine.refuses(bundle);
  // To try a container takes as long as many a call: not for bundles that have none.
  if (reason !== undefined && mode === 'container')
    return { ...pair, unfit: true, refusal: { reason, fix: fallback } };
  const lacking = reason === undefined ? await engine.lacks?.(bundle) : undefined;
  if (lacking) return { ...pair, refusal: lacking };
  const probe = await ((await wall.forBundle?.(bundle)) ?? wall).probe();
  if (!probe.available) return { ...pair, refusal: { reason: probe.summary, fix: probe.fix ?? fallback } };
  if (reason !== undefined) return { ...pair, refusal: { reason, fix: fallback } };
  const missing = engine.missing();
  return missing ? { ...pair, refusal: missing } : pair;
}

function modesOf({ manifest: { execution } }: Bundle): (mode: Mode) => boolean {
  return (mode) => execution.length === 0 || execution.includes(mode);
}

function notPure(reason: string): SkillError {
  return new SkillError('skill_unavailable', `The skill cannot run in Wasm: ${reason}`, {
    fix: 'List "subprocess" or "container" under execution, or use packages of pure Python.',
  });
}

function fixOf(probe: WallProbe, missing: string | undefined): { fix?: string } {
  const fix = probe.fix ?? missing;
  return fix === undefined ? {} : { fix };
}
