/**
 * The skill of this cell. The interpreter is prepared for it and its module body is run once; from then on every call
 * runs on the image taken after that. Whatever a call did to the memory is overwritten before the next one.
 *
 * @module
 */
import type { BrokerAnswer } from '../../wasi/broker-client.ts';
import { Interpreter, OutOfMemory, PAGE_BYTES, type Image } from '../engine/interpreter.ts';
import type { Collect } from '../../imaged/garbage.ts';
import { MAX_IMAGE_BYTES } from '../../imaged/memory.ts';
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import { BrokerTree, type Ask } from '../files/broker-tree.ts';
import { DeviceTree } from '../files/devices.ts';
import type { FixedTree } from '../files/fixed-tree.ts';
import { Mounts } from '../files/mounts.ts';
import { Quota, ScratchTree } from '../files/scratch.ts';
import type { Ports } from '../host/context.ts';
import { GuestProcess } from '../host/process.ts';
import { CallClock } from './call-clock.ts';
import type { Answer, PythonInit } from './contract.ts';
import type { Engine } from './engine-files.ts';
import { describeEnd } from './end.ts';
import { GuestChannel } from './guest-channel.ts';
import { decodeImage, encodeImage, type Overheard, type SavedImageOptions } from './saved-image.ts';

/** Room beyond the image, so that small calls need not grow the memory. */
const SPARE_PAGES = 16;
/** A memory that grew by more than this is thrown away: zeroing it would cost more than a new one. */
const MAX_GROWTH_PAGES = 256;
const FRAME_SLACK_BYTES = 64 * 1024;
/** The largest body of a request to the broker. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const encoder = new TextEncoder();

/** How the cell speaks with its host during a call. */
export interface HostLine {
  ask: Ask;
  log: (bytes: Uint8Array) => void;
  denied: (body: Record<string, unknown>) => void;
}

export interface PythonCellOptions {
  engine: Engine;
  init: PythonInit;
  /** Fixed folders by the path where the guest sees them. */
  folders: Record<string, FixedTree>;
  ports: Ports;
  /** The image that an earlier process of this skill handed over. */
  saved?: Buffer | undefined;
  collect: Collect;
}

interface Surroundings {
  process: GuestProcess;
  ports: Ports;
  env: Record<string, string>;
}

export class PythonCell {
  readonly #options: PythonCellOptions;
  readonly #ports: Ports;
  readonly #clocks: { elapsed: CallClock; worked: CallClock };
  readonly #devices: DeviceTree;
  readonly #surroundings: Surroundings;
  #interpreter: Interpreter | undefined;
  #channel!: GuestChannel;
  #scratch: ScratchTree[] = [];
  #image: Image;
  #overheard: Overheard = { logs: [], denials: [] };
  /** True when the image holds something that another process should not have: a time or a random number. */
  #isOfThisMoment = false;
  readonly #isSaved: boolean;

  constructor(options: PythonCellOptions) {
    this.#options = options;
    const { elapsed, worked } = options.ports;
    this.#clocks = { elapsed: new CallClock(elapsed), worked: new CallClock(worked) };
    this.#ports = this.#watched(options.ports);
    this.#devices = new DeviceTree(this.#ports.random);
    this.#image = options.engine.image;
    this.#surroundings = { process: this.#newProcess(NOBODY), ports: this.#ports, env: {} };
    const known = options.saved && decodeImage(options.saved, this.#savedImageOptions());
    if (known) ({ image: this.#image, overheard: this.#overheard } = known);
    else this.#loadAhead();
    this.#isSaved = known !== undefined;
    this.#running();
  }

  /** The image for later processes of this skill; undefined when each of them has to make its own. */
  save(): Buffer | undefined {
    const { engine, init } = this.#options;
    const isFinal = this.#image.stackPointer === engine.image.stackPointer && !this.#isOfThisMoment;
    if (this.#isSaved || init.keepBytes === 0 || !isFinal) return undefined;
    const skill = { image: this.#image, overheard: this.#overheard };
    const encoded = encodeImage(skill, this.#savedImageOptions());
    return encoded.length <= init.keepBytes ? encoded : undefined;
  }

  /** Runs one call. The cell has to be reset before the next. Throws after a trap. */
  call(params: Uint8Array, line: HostLine): Answer {
    for (const bytes of this.#overheard.logs) line.log(bytes);
    for (const body of this.#overheard.denials) line.denied(body);
    this.#surroundings.process = this.#newProcess(line);
    this.#clocks.elapsed.begin();
    this.#clocks.worked.begin();
    try {
      this.#running().call(this.#options.engine.facts.functions.serve, params);
      return answerOf(this.#channel);
    } catch (error) {
      const answer = describeEnd(error);
      if (answer) return answer;
      throw error;
    }
  }

  /** What the guest has taken of its memory, which may still have the size that an earlier call left it with. */
  get memoryBytes(): number {
    const { layout } = this.#options.engine.facts;
    return this.#running().usedBytes(layout);
  }

  /** Takes back everything that the call did. */
  reset(): void {
    if (this.#isSpent()) this.#renew();
    else this.#startOver();
    this.#surroundings.process = this.#newProcess(NOBODY);
  }

  /** A function of its own: a frame that is still there would hold the memory that is to be let go of. */
  #isSpent(): boolean {
    return this.#grownPages() > MAX_GROWTH_PAGES || !this.#running().isIntact;
  }

  #startOver(): void {
    if (this.#options.init.fresh.newInstance)
      this.#interpreter = this.#newInterpreter(this.#running().memory);
    else this.#running().restore(this.#image, this.#options.engine.facts.layout);
  }

  #savedImageOptions(): SavedImageOptions {
    const { engine, init } = this.#options;
    return {
      base: engine.image,
      baseDigest: engine.facts.digest,
      maxBytes: init.limits.pages * PAGE_BYTES,
    };
  }

  /** Notes who looks at a clock or draws a random number. */
  #watched(ports: Ports): Ports {
    const note = (): void => void (this.#isOfThisMoment = true);
    return {
      ...ports,
      now: () => (note(), ports.now()),
      elapsed: () => (note(), this.#clocks.elapsed.read()),
      worked: () => (note(), this.#clocks.worked.read()),
      random: (into) => (note(), ports.random(into)),
    };
  }

  #grownPages(): number {
    return this.#running().pages - this.#image.memory.length / PAGE_BYTES;
  }

  #running(): Interpreter {
    this.#interpreter ??= this.#newInterpreter();
    return this.#interpreter;
  }

  /** The old memory has to be gone first: two of them could be more than the process may have. */
  #renew(): void {
    this.#interpreter = undefined;
    this.#options.collect();
    this.#running();
  }

  /** Tells the harness what this cell may do. */
  #prepare(): void {
    const { engine, init } = this.#options;
    this.#running().call(engine.facts.functions.prepare, encoder.encode(JSON.stringify(init.harness)));
  }

  /**
   * Runs the module body for all calls, if that leaves nothing outside of the memory: no open file, no scratch file, no
   * question to the broker. Else, or if the operator wants it so, the body is run by every call anew, as it would be in
   * a process of its own.
   */
  #loadAhead(): void {
    const { layout } = this.#options.engine.facts;
    const overheard: Overheard = { logs: [], denials: [] };
    this.#surroundings.process = this.#newProcess({
      ...NOBODY,
      log: (bytes) => overheard.logs.push(bytes.slice()),
      denied: (body) => overheard.denials.push(body),
    });
    this.#prepare();
    this.#isOfThisMoment = false;
    if (!this.#options.init.fresh.strict && this.#runsBody() && this.#isPristine(overheard)) {
      this.#overheard = overheard;
      this.#clocks.elapsed.keep();
      this.#clocks.worked.keep();
    } else {
      this.reset();
      this.#prepare();
      this.#isOfThisMoment = false;
    }
    this.#image = this.#running().takeImage(layout);
    this.reset();
  }

  #runsBody(): boolean {
    try {
      this.#running().call(this.#options.engine.facts.functions.load, new Uint8Array());
      return this.#channel.reply === undefined;
    } catch {
      return false;
    }
  }

  #isPristine({ logs }: Overheard): boolean {
    const { output } = this.#options.init.limits;
    const printed = logs.reduce((sum, bytes) => sum + bytes.length, 0);
    const hasNoFiles = this.#scratch.every((tree) => tree.isEmpty);
    const isSmall = this.memoryBytes <= MAX_IMAGE_BYTES;
    return this.#surroundings.process.isPristine && hasNoFiles && isSmall && printed <= output;
  }

  #newInterpreter(memory?: GuestMemory): Interpreter {
    const { engine, init } = this.#options;
    const initialPages = this.#image.memory.length / PAGE_BYTES + SPARE_PAGES;
    if (initialPages > init.limits.pages) throw new OutOfMemory('Python does not fit into the memory limit');
    const interpreter = new Interpreter({
      code: engine.code,
      initialPages,
      maxPages: init.limits.pages,
      surroundings: this.#surroundings,
      ...(memory ? { memory } : {}),
    });
    interpreter.restore(this.#image, engine.facts.layout);
    return interpreter;
  }

  #newProcess(line: HostLine): GuestProcess {
    const { limits } = this.#options.init;
    this.#channel = new GuestChannel({
      ask: line.ask,
      onEvent: line.denied,
      maxPayload: Math.max(limits.output, MAX_REQUEST_BYTES) + FRAME_SLACK_BYTES,
    });
    return new GuestProcess({ mounts: this.#mounts(line.ask), onOutput: line.log, channel: this.#channel });
  }

  #mounts(ask: Ask): Mounts {
    const { engine, folders, init } = this.#options;
    const mounts = new Mounts();
    mounts.mount('/lib', engine.library);
    mounts.mount('/dev', this.#devices);
    for (const [at, tree] of Object.entries(folders)) mounts.mount(at, tree);
    const quota = new Quota(init.limits.scratch);
    this.#scratch = ['/tmp', '/dev/shm'].map((at) => {
      const tree = new ScratchTree({ quota, now: this.#ports.now });
      mounts.mount(at, tree);
      return tree;
    });
    for (const { id, guestPath, writable } of init.preopens)
      mounts.mount(guestPath, new BrokerTree({ ask, directory: id, writable }));
    return mounts;
  }
}

function answerOf(channel: GuestChannel): Answer {
  const { reply } = channel;
  if (!reply) return { body: { t: 'error', type: 'NoReply', message: 'the skill took the channel away' } };
  const { payload_bytes: _, ...body } = reply.body;
  return body['t'] === 'result' ? { body: { t: 'result' }, payload: reply.payload } : { body };
}

/** Outside of a call nobody answers; a guest that asks then is run within its call. */
const NOBODY: HostLine = {
  ask: (): BrokerAnswer => {
    throw new BodyAsks('The module body asks the broker');
  },
  log: () => undefined,
  denied: () => undefined,
};

class BodyAsks extends Error {}
