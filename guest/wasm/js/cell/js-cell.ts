/**
 * The skill of this cell. The engine is booted and the skill's module body is run once; from then on every call runs on
 * the image taken after that. Whatever a call did to the engine is overwritten before the next one.
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
import type { Answer, JsInit } from './contract.ts';
import { describeEnd, describeReply } from './end.ts';
import { HOST_FUNCTIONS } from './host-functions.ts';
import { BUNDLE, moduleSource, PRELUDE, resolveModule, type ModuleTexts } from './modules.ts';
import { Running, type CellEvent, type Listeners } from './running.ts';

/** For code of ours, which ends. */
const BOOT_FUEL = 1n << 50n;
/** Where the prelude finds the host functions, and leaves its own. It takes the name away again. */
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

/** What the module body said before there was a call that could hear it. */
interface Overheard {
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
  #overheard: Overheard = { logs: [], events: [] };
  #state: 'fresh' | 'running' | 'used' = 'fresh';

  /** @throws GuestEnd with the limit `memory` when not even the engine fits. */
  constructor(options: JsCellOptions) {
    this.#options = options;
    this.#around = this.#surroundings();
    this.#running = this.#newRunning(NOBODY);
    // Functions of their own: a frame that is still there would hold an engine that is to be let go of.
    this.#entries = this.#boot();
    this.#snapshot = this.#takeSnapshot();
    this.#loadAhead();
    this.#restore();
  }

  /** Runs one call. Resetting the cell afterwards saves the next call the time for it. */
  async call(params: Uint8Array, listeners: Listeners): Promise<Finished> {
    this.reset();
    this.#state = 'running';
    const { fuel } = this.#options.init.limits;
    for (const bytes of this.#overheard.logs) listeners.onLog(bytes);
    for (const event of this.#overheard.events) listeners.onEvent(event);
    this.#running = new Running(this.#options.init, listeners);
    const engine = this.#ready();
    engine.fuel = BigInt(fuel);
    const answer = await this.#answer(engine, params);
    this.#running.finish();
    this.#state = 'used';
    const left = engine.fuel > 0n ? Number(engine.fuel) : 0;
    return { ...answer, fuel: fuel - left, memoryBytes: engine.memoryBytes };
  }

  /** Takes back everything that the last call did. The next one may have come first: then there is nothing to do. */
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

  /** A function of its own: its frame would hold the engine that is let go of. */
  #startOver(): void {
    const engine = this.#engine;
    if (engine && !engine.restore(this.#snapshot.image)) this.#letGo(engine);
  }

  async #answer(engine: QuickJs, params: Uint8Array): Promise<Answer> {
    try {
      engine.call(this.#entries.serve, engine.newText(params));
      await this.#settle(engine);
      const { reply } = this.#running;
      if (!reply) throw new GuestEnd('trap', 'No reply');
      return describeReply(reply, { output: this.#options.init.limits.output, engine });
    } catch (error) {
      // It was stopped somewhere in the middle: nothing of it is used again.
      this.#letGo(engine);
      return describeEnd(error, engine);
    }
  }

  /** Lets the guest go on until it has replied. */
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

  /** A rejection that nobody listens to is the end of the call, whatever else it replied. */
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
   * Runs the module body for all calls, if that leaves nothing outside of the memory: nothing asked of the host that takes
   * time to answer. Else the body is run by every call anew, as it would be in a process of its own.
   */
  #loadAhead(): void {
    const overheard: Overheard = { logs: [], events: [] };
    this.#running = this.#newRunning({
      ...NOBODY,
      onLog: (bytes) => overheard.logs.push(bytes),
      onEvent: (event) => overheard.events.push(event),
    });
    const engine = this.#ready();
    engine.fuel = BigInt(this.#options.init.limits.fuel);
    if (this.#runsBody(engine)) {
      this.#overheard = overheard;
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
    if (!engine.restore(this.#snapshot.image)) throw new Error('An image does not fit its own engine');
    return engine;
  }

  /** Outside of a call its clock stands still. */
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
      source: (name) => moduleSource(name, texts),
      call: (name, args) => this.#hostCall(name, args),
      rejection: (promise, reason, isHandled) => this.#onRejection(promise, reason, isHandled),
    };
  }

  #hostCall(name: string, args: Value[]): Value {
    const act = HOST_FUNCTIONS.get(name);
    const engine = this.#engine;
    if (!act || !engine) throw new GuestEnd('trap', `There is no host function ${JSON.stringify(name)}`);
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

/** Outside of a call nobody answers; a guest that asks then is run within its call. */
const NOBODY: Listeners = {
  broker: { request: (): Promise<BrokerAnswer> => new Promise(() => undefined) },
  onLog: () => undefined,
  onEvent: () => undefined,
};
