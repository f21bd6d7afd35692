/**
 * The skill of this cell: its modules are compiled and linked once. Each call gets an unused instance, or one that was
 * reset to its initial state. The instance is created ahead, after the reply to the previous call, so that no caller
 * waits for it.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import type { ComponentInit } from '../../protocol.ts';
import { CAPS } from '../install/caps.ts';
import { GROWTH_OF, GuestEnd, type ModuleFacts, type Plan } from '../contract.ts';
import { collectNow, Garbage } from '../imaged/garbage.ts';
import { prepareComponent, type ComponentInstance, type PreparedComponent } from '../link/linker.ts';
import { outcomeOf, type Outcome } from '../link/outcome.ts';
import type { CallLimits } from '../link/running.ts';
import { createWasi, type WasiHost } from '../wasi/host.ts';
import { CommandInstance, type CommandInput } from './command.ts';
import { compileFile } from './compile.ts';
import { Stage, type Listeners } from './stage.ts';

const MAX_HANDLES = 4096;
const MAX_HOST_CALLS = 200_000;
const MAX_TRANSFER_BYTES = 256 * 1024 * 1024;

export interface SkillOptions extends Listeners {
  init: ComponentInit;
  /** Folder with the plan and the modules that the installer wrote. */
  folder: string;
}

export interface Finished {
  /** `ok` with the result as JSON text, or the reason for the failure. */
  outcome: Outcome;
  /** The result of a command, instead of the text. */
  stdout?: Uint8Array;
  fuel: bigint;
  memoryBytes: number;
  outOfMemory: boolean;
  /** CPU time of the start functions while the instance was created ahead, in microseconds. */
  startCpuUs: number;
}

/** The parts of an instance for one call. */
type Instance = Pick<ComponentInstance, 'usage' | 'failedGrowth' | 'isOverBudget'> | CommandInstance;

interface Standby {
  stage: Stage;
  host: WasiHost;
  instance: Instance;
  stdout: Uint8Array[];
  startCpuUs: number;
}

export class Skill {
  readonly #options: SkillOptions;
  readonly #plan: Plan;
  readonly #wasi = createWasi();
  readonly #component: PreparedComponent | undefined;
  readonly #command: CommandInput | undefined;
  readonly #decoder = new TextDecoder();
  readonly #garbage = new Garbage(collectNow);
  #standby: Standby | undefined;
  /** Has served its call. The next call may reuse its parts. */
  #used: ComponentInstance | undefined;

  /** @throws GuestEnd with the limit `memory`, or the reason why the binary cannot be linked. */
  constructor(options: SkillOptions) {
    this.#options = options;
    this.#plan = JSON.parse(readFileSync(`${options.folder}/plan.json`, 'utf8')) as Plan;
    assertFits(this.#plan.modules, options.init.limits.pages);
    const modules = this.#plan.modules.map((facts, index) => ({
      module: compileFile(`${options.folder}/${index}.wasm`),
      facts,
    }));
    const [first] = modules;
    if (this.#plan.component) {
      this.#component = prepareComponent({
        component: this.#plan.component,
        modules,
        host: this.#wasi.interfaces,
      });
    } else if (first) {
      this.#command = { ...first, imports: this.#wasi.preview1((call) => new WebAssembly.Suspending(call)) };
    }
    this.prepareNext();
  }

  async call(params: Uint8Array): Promise<Finished> {
    // Work done during the call is measured with it.
    const { stage, host, instance, stdout, startCpuUs } = this.#standby ?? this.#make();
    this.#standby = undefined;
    host.setStdin(params);
    stage.begin();
    const outcome = await this.#run(instance, params);
    host.finish();
    if (instance instanceof CommandInstance) this.#garbage.add(instance.heldBytes);
    else this.#used = instance as ComponentInstance;
    const { fuel, memoryBytes } = instance.usage();
    const ending = this.#isCommand ? asCommand(outcome) : asFunction(outcome);
    return {
      outcome: ending,
      ...(this.#isCommand ? { stdout: Buffer.concat(stdout) } : {}),
      fuel,
      memoryBytes,
      // Guests respond to a failed growth with a trap or an exit of their own.
      startCpuUs,
      outOfMemory:
        ['trap', 'exit'].includes(ending.kind) &&
        (instance.isOverBudget || this.#isCeiling(instance.failedGrowth)),
    };
  }

  /** Creates the instance for the next call. */
  prepareNext(): void {
    // Reading the clock takes longer than creating an instance without start functions.
    if (this.#standby || !this.#plan.modules.some(({ startExport }) => startExport !== undefined)) {
      this.#standby ??= this.#make();
      return;
    }
    const before = process.cpuUsage();
    const instance = this.#make();
    const { user, system } = process.cpuUsage(before);
    this.#standby = { ...instance, startCpuUs: user + system };
  }

  /** A module that requests more than it declared hits its own ceiling, not a limit of the call. */
  #isCeiling(failedGrowth: number): boolean {
    const { modules } = this.#plan;
    if (failedGrowth === GROWTH_OF.memory)
      return modules.some(({ memories }) =>
        memories.some(({ max }) => max >= this.#options.init.limits.pages),
      );
    return (
      failedGrowth === GROWTH_OF.table &&
      modules.some(({ tables }) => tables.some(({ max }) => max >= CAPS.tableEntries))
    );
  }

  /** Whether the result is its output. */
  get #isCommand(): boolean {
    return this.#plan.entry !== 'execute';
  }

  #run(instance: Instance, params: Uint8Array): Promise<Outcome> {
    if (instance instanceof CommandInstance) return instance.run();
    const component = instance as ComponentInstance;
    return this.#isCommand ? component.run() : component.callExecute(this.#decoder.decode(params));
  }

  #make(): Standby {
    const { init } = this.#options;
    const { env, preopens, limits } = init;
    const stage = new Stage(this.#options);
    const stdout: Uint8Array[] = [];
    const host = this.#wasi.createHost({
      broker: stage,
      env,
      preopens,
      args: ['skill'],
      limits: { output: limits.output, hostCalls: MAX_HOST_CALLS },
      onOutput: (stream, bytes) =>
        this.#isCommand && stream === 'stdout' ? stdout.push(bytes) : stage.log(bytes),
      onLog: (level, message) => stage.log(Buffer.from(`${level}: ${message}\n`)),
      onDenied: (capability, asked, declared) => stage.denied({ capability, asked, declared }),
    });
    return { stage, host, instance: this.#instantiate(host), stdout, startCpuUs: 0 };
  }

  #instantiate(host: WasiHost): Instance {
    const { limits } = this.#options.init;
    const fuel = BigInt(limits.fuel);
    const again = this.#startOver();
    if (again) return again;
    this.#garbage.clear();
    if (this.#command) return new CommandInstance(this.#command, host, fuel);
    if (!this.#component) throw new Error('The plan has neither a component nor a module');
    const callLimits: CallLimits = {
      fuel,
      handles: MAX_HANDLES,
      hostCalls: MAX_HOST_CALLS,
      valueBytes: limits.output,
      transferBytes: MAX_TRANSFER_BYTES,
      pages: limits.pages,
      tableEntries: CAPS.tableEntries,
    };
    return this.#component.instantiate(callLimits);
  }

  /** The instance of the previous call if it holds nothing of that call. Otherwise it is no longer referenced afterwards. */
  #startOver(): ComponentInstance | undefined {
    const used = this.#used;
    this.#used = undefined;
    if (!used || this.#component?.startOver(used)) return used;
    this.#garbage.add(used.heldBytes);
    return undefined;
  }
}

/** The engine would report this too, but indistinguishably from a malformed binary. */
function assertFits(modules: readonly ModuleFacts[], pages: number): void {
  const most = Math.max(0, ...modules.flatMap(({ memories }) => memories.map(({ min }) => min)));
  if (most > pages) throw new GuestEnd('limit', 'memory');
}

/** The exit code of a command decides whether its output is a result. */
function asCommand(outcome: Outcome): Outcome {
  if (outcome.kind === 'ok' || (outcome.kind === 'exit' && outcome.code === 0))
    return { kind: 'ok', value: '' };
  return outcome.kind === 'err' ? { kind: 'exit', code: 1 } : outcome;
}

/** A function must return. */
function asFunction(outcome: Outcome): Outcome {
  return outcome.kind === 'exit' && outcome.code === 0
    ? outcomeOf(new GuestEnd('trap', 'The skill exited instead of returning a result'))
    : outcome;
}
