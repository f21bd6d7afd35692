/**
 * The ways to run skills on this machine: pairs of wall and engine, strongest first, and which bundles each can run.
 *
 * @module
 */
import { sharedEngines } from '../load/home.ts';
import type { Bundle, FileDigests } from '../load/bundle.ts';
import type { Inspection } from '../load/inspection.ts';
import type { InstallHow } from '../load/install-progress.ts';
import type { LoadDeps, WaysToRun } from '../load/load-bundle.ts';
import type { LockedPackages } from '../load/locked-packages.ts';
import { pinLines, type Pins } from '../load/pins.ts';
import type { Skill } from '../load/skill.ts';
import type { Store } from '../load/store.ts';
import type { Offload } from '../offload/offload.ts';
import { ENGINE_NAMES, ENGINE_ROWS, type EngineName, type ModeOf } from '../vocabulary/engines.ts';
import { PREFERRED_MODES, type Mode } from '../vocabulary/modes.ts';
import { placeName, type Place } from '../vocabulary/place.ts';
import type { WallName } from '../vocabulary/walls.ts';
import type { Candidate } from '../policy/choose-mode.ts';
import type { Command, ParsedCommand } from '../policy/commands/command.ts';
import type { EnforcementTable } from '../policy/enforcement.ts';
import type { Way } from '../policy/plan.ts';
import type { PythonFreshness } from '../policy/python-freshness.ts';
import type { ContainerWallOptions } from './walls/container/contract.ts';
import { ExecEngine } from './engines/exec/engine.ts';
import { ContainerPythonEngine } from './engines/python/container-engine.ts';
import { fixForNoImage } from './images/engine-image.ts';
import { imageHere, imageToPin, installImage } from './images/of-bundle.ts';
import { createImageStore, type LocalImages } from './images/store.ts';
import { ContainerWall } from './walls/container/wall.ts';
import type { Artifact, Engine, Wall, WallProbe } from './contract.ts';
import { DEFAULT_CELL_ID } from './linux/identity.ts';
import { JailWall, type JailOptions } from './walls/jail/wall.ts';
import { NodeSkillEngine } from './engines/node/engine.ts';
import { NoWall } from './walls/none/wall.ts';
import { JsWasmEngine } from './engines/js-wasm/engine.ts';
import { ProcessWall } from './walls/process/wall.ts';
import { PinnedSkills } from './pinned-skills.ts';
import { BundlePackages, modesOf, type InstalledTargets } from './bundle-packages.ts';
import { PythonWasmEngine } from './engines/python-wasm/engine.ts';
import { wasmInspector } from './engines/python-wasm/inspect.ts';
import { PythonEngine } from './engines/python/engine.ts';
import { inspectPython, jailInspector, type Inspector } from './engines/python/inspect.ts';
import { findInterpreter, type Interpreter } from './engines/python/interpreter.ts';
import { ContainerScriptEngine } from './engines/script/container-engine.ts';
import { ScriptEngine } from './engines/script/engine.ts';
import { ComponentEngine } from './engines/component/engine.ts';

export interface MachineOptions {
  home: string;
  jail?: JailOptions;
  container?: ContainerWallOptions | undefined;
  /** Receives a progress message when something takes more than a moment. */
  onProgress?: ((text: string) => void) | undefined;
  /** The operator's freshness policy for Python in Wasm. */
  python?: (() => PythonFreshness | undefined) | undefined;
  offload: Offload;
}

/** An implementation for each engine in each of its modes. */
type EnginesByMode = { [Name in EngineName]: Record<ModeOf<Name>, Engine> };

/** One way to run a bundle, with its wall and engine. */
export interface CellWay extends Way {
  readonly wall: Wall;
  readonly engine: Engine;
  prepare(command?: Command): Promise<Artifact>;
}

/** A way to run skills. */
export interface Pair {
  mode: Mode;
  wall: Wall;
  engine: Engine;
}

/** One line of `doctor`: a pair of wall and engine, and what enforces each field. */
export interface PairReport extends Place {
  available: boolean;
  summary: string;
  fix?: string;
  enforces: EnforcementTable;
}

/** A row of the vocabulary without an implementation here is a type error. */
interface Walls extends Readonly<Record<WallName, Wall>> {
  readonly jail: JailWall;
}

export class Machine {
  /** Skillcell's own folder. */
  readonly home: string;
  readonly offload: Offload;
  readonly #images: LocalImages;
  readonly #walls: Walls;
  readonly #python: PythonEngine;
  readonly #node: NodeSkillEngine;
  readonly #component: ComponentEngine;
  readonly #pythonWasm: PythonWasmEngine;
  readonly #jsWasm: JsWasmEngine;
  readonly #containerPython: ContainerPythonEngine;
  readonly #exec: ExecEngine;
  readonly #script: ScriptEngine;
  readonly #containerScript: ContainerScriptEngine;
  readonly #interpreter: Interpreter | undefined;
  readonly #packages: BundlePackages;
  readonly #artifacts = new Map<string, Promise<Artifact>>();
  readonly #pinned = new PinnedSkills((bundle) => this.#pins(bundle));
  #pairs: Promise<Pair[]> | undefined;

  constructor({ home, jail, container, onProgress, python, offload }: MachineOptions) {
    this.home = home;
    this.offload = offload;
    this.#walls = {
      none: new NoWall(),
      process: new ProcessWall(),
      jail: new JailWall(jail, home),
      container: new ContainerWall({ home, ...container }),
    };
    this.#interpreter = findInterpreter();
    this.#python = new PythonEngine({ home, wall: this.#walls.jail, interpreter: this.#interpreter });
    this.#node = new NodeSkillEngine({ home });
    this.#component = new ComponentEngine({ home, wall: () => this.#outerWall() });
    this.#pythonWasm = new PythonWasmEngine({
      home,
      wall: () => this.#outerWall(),
      shared: sharedEngines(),
      onProgress,
      fresh: python,
    });
    this.#packages = new BundlePackages({
      home,
      interpreter: this.#interpreter,
      link: (packages) => this.#pythonWasm.images(packages),
    });
    this.#jsWasm = new JsWasmEngine({ home, wall: () => this.#outerWall() });
    const images = createImageStore({ home, onProgress });
    this.#images = images;
    this.#containerPython = new ContainerPythonEngine({ home, images, interpreter: this.#interpreter });
    this.#exec = new ExecEngine({ home, images });
    this.#script = new ScriptEngine({ home, interpreter: this.#interpreter });
    this.#containerScript = new ContainerScriptEngine({ home, images, interpreter: this.#interpreter });
  }

  /** The group that may pass through the runtime's folders when the host is root. */
  static cellGroup(options?: JailOptions): number {
    return options?.cellId ?? DEFAULT_CELL_ID;
  }

  /** All pairs of this version, strongest first. Probes the outer wall by starting it. */
  pairs(): Promise<Pair[]> {
    this.#pairs ??= this.#outerWall().then((outer) => this.#pairsInside(outer));
    return this.#pairs;
  }

  #pairsInside(outer: Wall): Pair[] {
    const walls: Record<Mode, Wall> = {
      wasm: outer,
      subprocess: this.#walls.jail,
      container: this.#walls.container,
      in_process: this.#walls.none,
    };
    const engines: EnginesByMode = {
      component: { wasm: this.#component },
      'python-wasm': { wasm: this.#pythonWasm },
      'js-wasm': { wasm: this.#jsWasm },
      python: { subprocess: this.#python, container: this.#containerPython },
      node: { subprocess: this.#node, in_process: this.#node },
      exec: { container: this.#exec },
      script: { subprocess: this.#script, container: this.#containerScript },
    };
    return PREFERRED_MODES.flatMap((mode) =>
      ENGINE_NAMES.flatMap((name) => {
        const { [mode]: engine }: Partial<Record<Mode, Engine>> = engines[name];
        return engine ? [{ mode, wall: walls[mode], engine }] : [];
      }),
    );
  }

  /** Every way to run this bundle here, in the order in which they are tried. */
  async candidates(bundle: Bundle, command?: ParsedCommand): Promise<Candidate[]> {
    this.#packages.assertPinned(bundle);
    const pairs = (await this.pairs()).filter(({ engine }) =>
      ENGINE_ROWS[engine.name].kinds.includes(bundle.kind),
    );
    const ordered = bundle.kind === 'script' ? pairs.toSorted(forCommands(bundle)) : pairs;
    return Promise.all(ordered.map((pair) => candidate(pair, bundle, command)));
  }

  /** The wall and engine of a chosen candidate. */
  async way(candidate: Candidate, bundle: Bundle): Promise<CellWay> {
    const pairs = await this.pairs();
    const chosen = pairs.find(
      ({ wall, engine }) => wall.name === candidate.wall && engine.name === candidate.engine,
    );
    if (!chosen) throw new Error(`The pair ${placeName(candidate)} does not exist`);
    const { engine } = chosen;
    const wall = (await chosen.wall.forBundle?.(bundle)) ?? chosen.wall;
    return {
      wall,
      engine,
      enforces: engine.enforces((await wall.probe()).enforces),
      isReusable: engine.reusable,
      accepts: (grant) => wall.accepts(grant),
      fixedEnv: (grant) => engine.fixedEnv(grant, bundle),
      findProgram: engine.findProgram?.bind(engine, bundle),
      prepare: (command) => this.prepare({ mode: candidate.mode, engine }, bundle, command),
    };
  }

  /** Prepares a bundle for an engine; the same bundle is prepared only once. */
  prepare(
    { mode, engine }: Pick<Pair, 'mode' | 'engine'>,
    bundle: Bundle,
    command?: Command,
  ): Promise<Artifact> {
    const { digest, stagedDir, lockedPackages } = bundle;
    const wanted = [command?.runner, command?.origin === 'package' ? command.start : ''];
    // An overlay can require other packages for the same files.
    const packages = [bundle.manifest.requirements, lockedPackages, pinLines(bundle)];
    const key = JSON.stringify([mode, engine.name, digest, stagedDir, packages, wanted]);
    const known = this.#artifacts.get(key);
    if (known) return known;
    const artifact = engine.prepare(bundle, command);
    this.#artifacts.set(key, artifact);
    // Not cached, because the cause may be fixed, e.g. by installing a missing package.
    artifact.catch(() => this.#artifacts.delete(key));
    return artifact;
  }

  /** What loading a bundle needs. */
  loadDeps(store: Store): LoadDeps {
    return {
      store,
      offload: this.offload,
      inspect: (...bundle) => this.inspect(...bundle),
      imageToPin: (bundle) => this.imageToPin(bundle),
      packagesToPin: (...bundle) => this.packagesToPin(...bundle),
    };
  }

  /** Inspects the sources and binaries of a staged bundle without running them. */
  async inspect(stagedDir: string, files: FileDigests, { entry, execution }: WaysToRun): Promise<Inspection> {
    const options = { home: this.home, inspector: () => this.#inspector(execution), offload: this.offload };
    const python = await inspectPython(options, stagedDir, files);
    const interfaces = await this.#component.inspect(stagedDir, files);
    const scripts = await this.#jsWasm.inspect(stagedDir, files, entry);
    if (!scripts) return { ...python, interfaces };
    return {
      ...scripts,
      modules: python.modules,
      ...(python.loads ? { loads: python.loads } : {}),
      interfaces,
      env: [...python.env, ...scripts.env],
      hosts: [...python.hosts, ...scripts.hosts],
      unparsed: [...python.unparsed, ...scripts.unparsed],
    };
  }

  /** Installs the third-party packages of a bundle for each engine that it may run in. */
  installRequirements(bundle: Bundle, how: InstallHow): Promise<InstalledTargets> {
    return this.#packages.install(bundle, how);
  }

  /** The packages that a new lock of a bundle pins. */
  packagesToPin(bundle: Bundle, before: LockedPackages | undefined): LockedPackages | undefined {
    return this.#packages.toPin(bundle, before);
  }

  /** Returns the skill with the image and packages that a call would use now. */
  pin(skill: Skill): Promise<Skill> {
    return this.#pinned.pin(skill);
  }

  /** The image and packages that a call of this bundle would use now, if they are installed. */
  async #pins(bundle: Bundle): Promise<Pins> {
    const image = modesOf(bundle)('container') ? await imageHere(this.#images, bundle) : undefined;
    const packages = this.#packages.installed(bundle);
    return { ...(image === undefined ? {} : { image }), ...(packages ? { packages } : {}) };
  }

  /** Digest of the container image that a new lock of a bundle pins, if there is one. */
  imageToPin(bundle: Bundle): Promise<string | undefined> {
    return imageToPin(this.#images, bundle);
  }

  /** Fetches the container image of a bundle. Returns the problem if another mode does not need the image. */
  installImage(bundle: Bundle): Promise<string | undefined> {
    return installImage(this.#images, bundle);
  }

  async report(): Promise<PairReport[]> {
    return Promise.all((await this.pairs()).map((pair) => this.#reportPair(pair)));
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#walls).map((wall) => wall.close()));
    // Last, because code that a skill left behind in the host may print until then.
    this.#node.close();
  }

  /** The strongest available wall to put around Wasm, which isolates by itself. */
  async #outerWall(): Promise<Wall> {
    const { available, isTemporary } = await this.#walls.jail.probe();
    // A jail that a busy machine could not open in time is refused by the call, not replaced by a weaker wall.
    return available || isTemporary ? this.#walls.jail : this.#walls.process;
  }

  /** Parses with the Python that will run the skill, because syntax differs by version. Prefers the system's: it starts faster. */
  async #inspector(execution: readonly Mode[]): Promise<Inspector> {
    const outer = await this.#outerWall();
    const interpreter = this.#interpreter;
    const onlyInWasm = execution.length > 0 && execution.every((mode) => mode === 'wasm');
    const prefersWasm = onlyInWasm && this.#pythonWasm.missing() === undefined;
    if (outer !== this.#walls.jail || !interpreter || prefersWasm)
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

/** Scripts are written for the Python of a system, with its threads and messages. An image has the programs that they need. */
function forCommands({ manifest }: Bundle): (a: Pair, b: Pair) => number {
  const order: Mode[] = manifest.container ? ['container', 'subprocess', 'wasm'] : ['subprocess', 'wasm'];
  const place = ({ mode }: Pair): number => (order.includes(mode) ? order.indexOf(mode) : order.length);
  return (a, b) => place(a) - place(b);
}

async function candidate(
  { mode, wall, engine }: Pair,
  bundle: Bundle,
  command?: ParsedCommand,
): Promise<Candidate> {
  const pair = { mode, wall: wall.name, engine: engine.name };
  const fallback = 'Run `skillcell doctor` to see what this machine has.';
  const refused = engine.refuses(bundle, command);
  // An Agent Skills folder has no entry that an engine for functions could name.
  const isWithoutEntry = refused === `the engine ${engine.name} cannot run ""`;
  const reason = isWithoutEntry ? 'its engines run functions, and this skill has scripts only' : refused;
  // Probing a container is slow, so it is skipped for bundles without one.
  if (reason !== undefined && mode === 'container')
    return { ...pair, unfit: true, refusal: { reason, fix: fixForNoImage(bundle) ?? fallback } };
  const lacking = reason === undefined ? await engine.lacks?.(bundle) : undefined;
  if (lacking) return { ...pair, refusal: lacking };
  const probe = await ((await wall.forBundle?.(bundle)) ?? wall).probe();
  if (!probe.available) return { ...pair, refusal: { reason: probe.summary, fix: probe.fix ?? fallback } };
  if (reason !== undefined) return { ...pair, refusal: { reason, fix: fallback } };
  const missing = engine.missing();
  return missing ? { ...pair, refusal: missing } : pair;
}

function fixOf(probe: WallProbe, missing: string | undefined): { fix?: string } {
  const fix = probe.fix ?? missing;
  return fix === undefined ? {} : { fix };
}
