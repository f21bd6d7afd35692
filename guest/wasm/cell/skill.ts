/**
 * The skill of this cell: its modules are compiled and linked once, each call gets an instance of its own. One
 * instance is made ahead, after the reply to the call before, so that no caller waits for it.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import type { Plan } from '../contract.ts';
import { prepareComponent, type ComponentInstance, type PreparedComponent } from '../link/linker.ts';
import type { Outcome } from '../link/outcome.ts';
import type { BrokerClient, Preopen } from '../wasi/broker-client.ts';
import { createWasi, type WasiHost } from '../wasi/host.ts';
import { CommandInstance, type CommandInput } from './command.ts';

const PAGE_BYTES = 65_536;
const MAX_HANDLES = 4096;
const MAX_HOST_CALLS = 200_000;
const MAX_TRANSFER_BYTES = 256 * 1024 * 1024;

/** What the host says about every call of this cell. */
export interface CellInit {
  env: Record<string, string>;
  preopens: Preopen[];
  limits: { pages: number; output: number; fuel: number };
}

export interface SkillOptions {
  init: CellInit;
  broker: BrokerClient;
  /** Gets what the skill prints for people. */
  onLog: (bytes: Uint8Array) => void;
  /** Where the installer left the plan and the modules. */
  folder: string;
}

export interface Finished {
  outcome: Outcome;
  /** What a command printed as its result. */
  stdout: Uint8Array[];
  fuel: bigint;
  outOfMemory: boolean;
}

type Instance = Pick<ComponentInstance, 'usage'> | CommandInstance;

interface Standby {
  host: WasiHost;
  instance: Instance;
  stdout: Uint8Array[];
}

export class Skill {
  readonly #options: SkillOptions;
  readonly #plan: Plan;
  readonly #wasi = createWasi();
  readonly #component: PreparedComponent | undefined;
  readonly #command: CommandInput | undefined;
  #standby: Standby | undefined;

  constructor(options: SkillOptions) {
    this.#options = options;
    this.#plan = JSON.parse(readFileSync(`${options.folder}/plan.json`, 'utf8')) as Plan;
    const modules = this.#plan.modules.map((facts, index) => ({
      module: new WebAssembly.Module(readFileSync(`${options.folder}/${index}.wasm`)),
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
    const { host, instance, stdout } = this.#standby ?? this.#make();
    this.#standby = undefined;
    host.setStdin(params);
    const outcome = await this.#run(instance, params);
    host.finish();
    const { fuel, memoryBytes } = instance.usage();
    // Guests answer a failed growth with a trap of their own.
    const outOfMemory =
      outcome.kind === 'trap' && memoryBytes >= (this.#options.init.limits.pages - 1) * PAGE_BYTES;
    return { outcome, stdout, fuel, outOfMemory };
  }

  /** Makes the instance of the next call. */
  prepareNext(): void {
    this.#standby ??= this.#make();
  }

  #run(instance: Instance, params: Uint8Array): Promise<Outcome> {
    if (instance instanceof CommandInstance) return instance.run();
    const component = instance as ComponentInstance;
    return this.#plan.entry === 'execute'
      ? component.callExecute(new TextDecoder().decode(params))
      : component.run();
  }

  #make(): Standby {
    const { init, broker, onLog } = this.#options;
    const { env, preopens, limits } = init;
    const stdout: Uint8Array[] = [];
    const isCommand = this.#plan.entry !== 'execute';
    const host = this.#wasi.createHost({
      broker,
      env,
      preopens,
      args: ['skill'],
      limits: { output: limits.output, hostCalls: MAX_HOST_CALLS },
      onOutput: (stream, bytes) => (isCommand && stream === 'stdout' ? stdout.push(bytes) : onLog(bytes)),
      onLog: (level, message) => onLog(new TextEncoder().encode(`${level}: ${message}\n`)),
    });
    return { host, instance: this.#instantiate(host), stdout };
  }

  #instantiate(host: WasiHost): Instance {
    const { limits } = this.#options.init;
    const fuel = BigInt(limits.fuel);
    if (this.#command) return new CommandInstance(this.#command, host, fuel);
    if (!this.#component) throw new Error('The plan has neither a component nor a module');
    return this.#component.instantiate({
      fuel,
      handles: MAX_HANDLES,
      hostCalls: MAX_HOST_CALLS,
      valueBytes: limits.output,
      transferBytes: MAX_TRANSFER_BYTES,
    });
  }
}
