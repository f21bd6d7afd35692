/**
 * The skill of this cell. The engine is booted and the skill's module body runs once; after that, every call runs on the
 * image taken then. Whatever a call did to the engine is overwritten before the next one.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import { collectNow, Garbage } from '../../imaged/garbage.ts';
import type { Image } from '../../imaged/image.ts';
import { MAX_IMAGE_BYTES } from '../../imaged/memory.ts';
import type { BrokerAnswer } from '../../wasi/broker-client.ts';
import type { Value } from '../engine/exports.ts';
import type { Surroundings } from '../engine/imports.ts';
import { QuickJs, type EngineCode } from '../engine/quickjs.ts';
import type { JsInit } from '../../../protocol.ts';
import type { Answer } from '../../cell/channel.ts';
import { describeEnd, describeReply } from './end.ts';
import { HOST_FUNCTIONS } from './host-functions.ts';
import { BUNDLE, moduleSource, PRELUDE, resolveModule, type ModuleTexts } from './modules.ts';
import { programModule } from './program.ts';
import { Running, type CellEvent, type Listeners } from './running.ts';

/** For our own code, which always ends. */
const BOOT_FUEL = 1n << 50n;
/** Where the prelude finds the host functions and stores its own. It removes the name afterwards. */
const EXCHANGE = '__skillcell';
/** One is enough to end the call; a flood of them must not fill the process. */
const MAX_REJECTIONS = 1024;
const MAIN = `${PRELUDE}main.js`;
const ENTRY_POINTS = ['load', 'serve', 'settle', 'rejected'] as const;

export interface JsCellOptions {
  code: EngineCode;
  init: JsInit;
  texts: ModuleTexts;
}

export interface Finished extends Answer {
  fuel: number;
  memoryBytes: number;
}

/** Output of the module body from before the first call. */
interface BodyOutput {
  logs: Uint8Array[];
  events: CellEvent[];
}

interface Snapshot {
  image: Image;
  memoryBytes: number;
}

export class JsCell {
  readonly #options: JsCellOptions;
  readonly #around: Surroundings;
  readonly #garbage = new Garbage(collectNow);
  #engine: QuickJs | undefined;
  #running: Running;
  readonly #entries: Record<(typeof ENTRY_POINTS)[number], Value>;
  #snapshot: Snapshot;
  #bodyOutput: BodyOutput = { logs: [], events: [] };
  #state: 'fresh' | 'running' | 'used' = 'fresh';
  /** The entry module of this call, if it came with it. */
  #program: string | undefined;

  /** @throws GuestEnd with the limit `memory` if not even the engine fits. */
  constructor(options: JsCellOptions) {
    this.#options = options;
    this.#around = this.#surroundings();
    this.#running = this.#newRunning(NOBODY);
    // Separate functions: a live frame would keep an engine alive that should be released.
    this.#entries = this.#boot();
    this.#snapshot = this.#takeSnapshot();
    if (!options.init.program) this.#loadAhead();
    this.#restore();
  }

  /** Runs one call. Resetting the cell afterwards saves the next call that time. */
  async call(params: Uint8Array, listeners: Listeners): Promise<Finished> {
    this.reset();
    this.#state = 'running';
    const { fuel } = this.#options.init.limits;
    for (const bytes of this.#bodyOutput.logs) listeners.onLog(bytes);
    for (const event of this.#bodyOutput.events) listeners.onEvent(event);
    this.#running = new Running(this.#options.init, listeners);
    const engine = this.#ready();
    engine.fuel = BigInt(fuel);
    const answer = await this.#answer(engine, params);
    this.#running.finish();
    this.#program = undefined;
    this.#state = 'used';
    const left = engine.fuel > 0n ? Number(engine.fuel) : 0;
    return { ...answer, fuel: fuel - left, memoryBytes: engine.memoryBytes };
  }

  /** Undoes everything that the last call did. Does nothing if the next call has already done it. */
  reset(): void {
    if (this.#state !== 'used') return;
    this.#restore();
    this.#state = 'fresh';
  }

  #restore(): void {
    this.#running = this.#newRunning(NOBODY);
    this.#startOver();
    this.#ready();
  }

  /** A separate function: its frame would keep the released engine alive. */
  #startOver(): void {
    const engine = this.#engine;
    if (engine && !engine.restore(this.#snapshot.image)) this.#letGo(engine);
  }

  async #answer(engine: QuickJs, params: Uint8Array): Promise<Answer> {
    try {
      engine.call(this.#entries.serve, engine.newText(this.#paramsOf(params)));
      await this.#settle(engine);
      const { reply } = this.#running;
      if (!reply) throw new GuestEnd('trap', 'No reply');
      return describeReply(reply, { output: this.#options.init.limits.output, engine });
    } catch (error) {
      // It was stopped at an arbitrary point, so nothing of it is used again.
      this.#letGo(engine);
      return describeEnd(error, engine);
    }
  }

  /** A program comes with its call; what is left of the parameters is its input. */
  #paramsOf(params: Uint8Array): Uint8Array {
    if (!this.#options.init.program) return params;
    const { module, input } = programModule(params);
    this.#program = module;
    return input;
  }

  #source(name: string): string {
    const { init, texts } = this.#options;
    const isProgram = this.#program !== undefined && name === BUNDLE + init.entry;
    return isProgram ? this.#program! : moduleSource(name, texts);
  }

  /** Runs the guest until it has replied. */
  async #settle(engine: QuickJs): Promise<void> {
    const running = this.#running;
    for (;;) {
      engine.runJobs();
      this.#reportRejections(engine);
      if (running.reply) return;
      const next = await running.next();
      if (!next) throw new GuestEnd('exit', 'never');
      const { text, bytes } = next.result;
      engine.call(
        this.#entries.settle,
        engine.newNumber(next.id),
        engine.newText(Buffer.from(text)),
        bytes ? engine.newBytes(bytes) : engine.undefined,
      );
    }
  }

  /** An unhandled rejection fails the call, whatever it replied. */
  #reportRejections(engine: QuickJs): void {
    const [reason] = this.#running.rejections.values();
    if (reason === undefined) return;
    this.#running.rejections.clear();
    this.#running.reply = undefined;
    engine.call(this.#entries.rejected, reason);
  }

  #boot(): Record<(typeof ENTRY_POINTS)[number], Value> {
    const { code, init, texts } = this.#options;
    const engine = new QuickJs(code, this.#around);
    this.#engine = engine;
    engine.fuel = BOOT_FUEL;
    engine.boot();
    const exchange = engine.newObject();
    for (const name of HOST_FUNCTIONS.keys())
      engine.setProperty(exchange, name, engine.newHostFunction(name));
    const skill = { entry: BUNDLE + init.entry, ...init.prelude };
    engine.setProperty(exchange, 'init', engine.newText(Buffer.from(JSON.stringify(skill))));
    const { global } = engine;
    engine.setProperty(global, EXCHANGE, exchange);
    engine.evaluate(moduleSource(MAIN, texts), MAIN);
    engine.runJobs();
    const entries = ENTRY_POINTS.map((name) => [name, engine.property(exchange, name)] as const);
    engine.makeRoom();
    return Object.fromEntries(entries) as Record<(typeof ENTRY_POINTS)[number], Value>;
  }

  /**
   * Runs the module body once for all calls, if that leaves nothing outside the memory: no request to the host that takes
   * time to answer. Otherwise every call runs the body again, as it would in a process of its own.
   */
  #loadAhead(): void {
    const bodyOutput: BodyOutput = { logs: [], events: [] };
    this.#running = this.#newRunning({
      ...NOBODY,
      onLog: (bytes) => bodyOutput.logs.push(bytes),
      onEvent: (event) => bodyOutput.events.push(event),
    });
    const engine = this.#ready();
    engine.fuel = BigInt(this.#options.init.limits.fuel);
    if (this.#runsBody(engine)) {
      this.#bodyOutput = bodyOutput;
      this.#snapshot.image.release();
      this.#snapshot = this.#takeSnapshot();
    } else {
      this.#letGo(engine);
    }
    this.#running.finish();
  }

  #runsBody(engine: QuickJs): boolean {
    const running = this.#running;
    try {
      engine.call(this.#entries.load);
      engine.runJobs();
      const isLoaded = running.reply?.kind === 'loaded';
      if (!isLoaded || running.hasAsked || running.rejections.size > 0) return false;
      engine.fuel = BOOT_FUEL;
      engine.makeRoom();
      return engine.memoryBytes <= MAX_IMAGE_BYTES;
    } catch {
      return false;
    }
  }

  #ready(): QuickJs {
    this.#engine ??= this.#newEngine();
    return this.#engine;
  }

  #takeSnapshot(): Snapshot {
    const engine = this.#ready();
    return { image: engine.takeImage(), memoryBytes: engine.memoryBytes };
  }

  #letGo(engine: QuickJs): void {
    this.#garbage.add(engine.memoryBytes);
    this.#engine = undefined;
  }

  #newEngine(): QuickJs {
    this.#garbage.clear();
    const engine = new QuickJs(this.#options.code, this.#around);
    engine.growTo(this.#snapshot.memoryBytes);
    if (!engine.restore(this.#snapshot.image)) throw new Error('The image does not match its engine');
    return engine;
  }

  /** Outside a call its clock does not advance. */
  #newRunning(listeners: Listeners): Running {
    return new Running(this.#options.init, listeners, () => 0);
  }

  #surroundings(): Surroundings {
    const { texts } = this.#options;
    return {
      now: () => this.#running.call.wallMilliseconds(),
      elapsed: () => this.#running.call.monotonic(),
      random: (length) => this.#running.call.random(length),
      print: (bytes) => this.#running.call.write('stderr', bytes),
      resolve: (specifier, importer) => resolveModule(specifier, importer, texts),
      source: (name) => this.#source(name),
      call: (name, args) => this.#hostCall(name, args),
      rejection: (promise, reason, isHandled) => this.#onRejection(promise, reason, isHandled),
    };
  }

  #hostCall(name: string, args: Value[]): Value {
    const act = HOST_FUNCTIONS.get(name);
    const engine = this.#engine;
    if (!act || !engine) throw new GuestEnd('trap', `${JSON.stringify(name)} is not a host function`);
    return act({ engine, running: this.#running }, args);
  }

  #onRejection(promise: Value, reason: Value, isHandled: boolean): void {
    const engine = this.#ready();
    const identity = engine.identity(promise);
    const { rejections } = this.#running;
    if (isHandled) rejections.delete(identity);
    else if (rejections.size < MAX_REJECTIONS) rejections.set(identity, reason);
  }
}

/** There are no answers outside a call; a guest that makes a request then is run within its call. */
/** For what runs outside a call. */
export const NOBODY: Listeners = {
  broker: { request: (): Promise<BrokerAnswer> => new Promise(() => undefined) },
  onLog: () => undefined,
  onEvent: () => undefined,
};
