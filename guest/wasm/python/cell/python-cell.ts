/**
 * The skill of this cell. The interpreter is prepared for it and its module body runs once; after that, every call runs
 * on the image taken then. Whatever a call did to the memory is overwritten before the next one.
 *
 * @module
 */
import type { BrokerAnswer } from '../../wasi/broker-client.ts';
import { Interpreter, OutOfMemory, PAGE_BYTES, type Image } from '../engine/interpreter.ts';
import { release, type Collect } from '../../imaged/garbage.ts';
import { layImage, MAX_IMAGE_BYTES, type StoredBytes } from '../../imaged/memory.ts';
import { ChangedPages } from '../../imaged/stored.ts';
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import { BrokerTree, type Ask } from '../files/broker-tree.ts';
import { DeviceTree } from '../files/devices.ts';
import type { FixedTree } from '../files/fixed-tree.ts';
import { Mounts } from '../files/mounts.ts';
import { Quota, ScratchTree } from '../files/scratch.ts';
import type { Ports } from '../host/context.ts';
import { GuestProcess } from '../host/process.ts';
import { CallClock } from './call-clock.ts';
import type { PythonWasmInit, StreamName } from '../../../protocol.ts';
import type { Answer, CellEvent, Failed } from '../../cell/channel.ts';
import type { Engine } from './engine-files.ts';
import { describeEnd } from './end.ts';
import { GuestChannel } from './guest-channel.ts';
import {
  decodeImage,
  encodeImage,
  type BodyOutput,
  type SavedImageOptions,
  type SkillImage,
} from './saved-image.ts';

/** Memory beyond the image, so that small calls need not grow it. */
const SPARE_PAGES = 16;
/** A memory that grew by more than this is discarded: zeroing it would cost more than a new one. */
const MAX_GROWTH_PAGES = 256;
const FRAME_SLACK_BYTES = 64 * 1024;
/** The largest body of a request to the broker: as the host, so that the broker can refuse smaller ones with an answer. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
const encoder = new TextEncoder();

/** How the cell talks to its host during a call. */
export interface HostLine {
  ask: Ask;
  log: (bytes: Uint8Array, stream?: StreamName) => void;
  denied: (event: CellEvent) => void;
}

export interface PythonCellOptions {
  engine: Engine<Uint8Array | StoredBytes>;
  init: PythonWasmInit;
  /** Fixed folders by their path inside the guest. */
  folders: Record<string, FixedTree>;
  ports: Ports;
  /** The image that an earlier process of this skill saved. */
  saved?: Buffer | undefined;
  collect: Collect;
}

interface Surroundings {
  process: GuestProcess;
  ports: Ports;
  env: Record<string, string>;
}

export class PythonCell {
  readonly #options: Omit<PythonCellOptions, 'engine' | 'saved'>;
  /** Without the base image, which would otherwise stay in memory. */
  readonly #engine: Omit<Engine, 'image'>;
  /** Undefined once nothing needs it any more. */
  #base: Image | undefined;
  readonly #ports: Ports;
  readonly #clocks: { elapsed: CallClock; worked: CallClock };
  readonly #devices: DeviceTree;
  readonly #surroundings: Surroundings;
  #interpreter: Interpreter | undefined;
  #channel!: GuestChannel;
  #scratch: ScratchTree[] = [];
  #image: Image;
  #bodyOutput: BodyOutput = { logs: [], denials: [] };
  /** Whether the image contains something that must differ between processes: a time or a random number. */
  #isProcessSpecific = false;
  readonly #directory: readonly string[] | undefined;
  /** What `save` hands over, until it does. */
  #unsaved: SkillImage | undefined;

  constructor({ engine, saved, ...options }: PythonCellOptions) {
    this.#options = options;
    const { image: base, ...rest } = engine;
    this.#engine = rest;
    this.#base = base;
    this.#directory = options.init.cwd?.split('/').filter(Boolean);
    const { elapsed, worked } = options.ports;
    this.#clocks = { elapsed: new CallClock(elapsed), worked: new CallClock(worked) };
    this.#ports = this.#watchPorts(options.ports);
    this.#devices = new DeviceTree(this.#ports.random);
    this.#image = base;
    this.#surroundings = { process: this.#newProcess(NOBODY), ports: this.#ports, env: {} };
    const known = saved && decodeImage(saved, this.#savedImageOptions(base));
    if (known) {
      this.#bodyOutput = known.bodyOutput;
      this.#image = this.#kept(known.image);
      this.#base = undefined;
    } else this.#loadAhead(base);
    this.#running();
  }

  /** The image for later processes of this skill, once; undefined if each of them must make its own. */
  save(): Buffer | undefined {
    const [base, skill] = [this.#base, this.#unsaved];
    [this.#base, this.#unsaved] = [undefined, undefined];
    const { keepBytes } = this.#options.init;
    const isFinal = skill?.image.stackPointer === base?.stackPointer && !this.#isProcessSpecific;
    if (!base || !skill || keepBytes === 0 || !isFinal) return undefined;
    const encoded = encodeImage(skill, this.#savedImageOptions(base));
    return encoded.length <= keepBytes ? encoded : undefined;
  }

  /** Its calls are commands, which end with an exit code. */
  get isCommand(): boolean {
    return this.#options.init.harness.task === 'script';
  }

  /** Whether the guest sent the end of its command, or broke the protocol. */
  get hasEnded(): boolean {
    try {
      return this.#channel.reply?.body.t === 'ended';
    } catch {
      return true;
    }
  }

  /** Runs one call. The cell must be reset before the next one. Throws after a trap. */
  call(params: Uint8Array, line: HostLine): Answer {
    for (const bytes of this.#bodyOutput.logs) line.log(bytes);
    for (const body of this.#bodyOutput.denials) line.denied(body);
    this.#surroundings.process = this.#newProcess(line);
    this.#clocks.elapsed.begin();
    this.#clocks.worked.begin();
    try {
      this.#running().call(this.#engine.facts.functions.serve, params);
      return answerOf(this.#channel);
    } catch (error) {
      const answer = describeEnd(error);
      if (answer) return this.isCommand ? commandEnd(answer.body, line) : answer;
      throw error;
    }
  }

  /** How much memory the guest has allocated; the memory itself may still have the size of an earlier call. */
  get memoryBytes(): number {
    const { layout } = this.#engine.facts;
    return this.#running().usedBytes(layout);
  }

  /** Undoes everything that the call did. */
  reset(): void {
    if (this.#isSpent()) this.#renew();
    else this.#startOver();
    this.#surroundings.process = this.#newProcess(NOBODY);
  }

  /** A separate function: a live frame would keep memory alive that should be released. */
  #isSpent(): boolean {
    return this.#grownPages() > MAX_GROWTH_PAGES || !this.#running().isIntact;
  }

  #startOver(): void {
    if (this.#options.init.fresh.newInstance)
      this.#interpreter = this.#newInterpreter(this.#running().memory);
    else this.#running().restore(this.#image, this.#engine.facts.layout);
  }

  #savedImageOptions(base: Image): SavedImageOptions {
    const { init } = this.#options;
    return {
      base,
      baseDigest: this.#engine.facts.digest,
      maxBytes: init.limits.pages * PAGE_BYTES,
    };
  }

  /** Records whether the guest read a clock or drew a random number. */
  #watchPorts(ports: Ports): Ports {
    const note = (): void => void (this.#isProcessSpecific = true);
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

  /** The old memory must be released first: two of them could exceed what the process may have. */
  #renew(): void {
    this.#interpreter = undefined;
    this.#options.collect();
    this.#running();
  }

  /** Tells the harness what this cell may do. */
  #prepare(): void {
    const { init } = this.#options;
    this.#running().call(this.#engine.facts.functions.prepare, encoder.encode(JSON.stringify(init.harness)));
  }

  /**
   * Runs the module body once for all calls, if that leaves nothing outside the memory: no open file, no scratch file, no
   * request to the broker. Otherwise, or if the operator requires it, every call runs the body again, as it would in a
   * process of its own.
   */
  #loadAhead(base: Image): void {
    const { layout } = this.#engine.facts;
    const bodyOutput: BodyOutput = { logs: [], denials: [] };
    this.#surroundings.process = this.#newProcess({
      ...NOBODY,
      log: (bytes) => bodyOutput.logs.push(bytes.slice()),
      denied: (body) => bodyOutput.denials.push(body),
    });
    this.#prepare();
    this.#isProcessSpecific = false;
    if (!this.#options.init.fresh.strict && this.#runsBody() && this.#isPristine(bodyOutput)) {
      this.#bodyOutput = bodyOutput;
      this.#clocks.elapsed.keep();
      this.#clocks.worked.keep();
    } else {
      this.reset();
      this.#prepare();
      this.#isProcessSpecific = false;
    }
    const { memory, stackPointer } = this.#running().takeImage(layout);
    const image = { memory: ChangedPages.between(base.memory, memory), stackPointer };
    release(memory);
    this.#unsaved = { image, bodyOutput: this.#bodyOutput };
    this.#image = this.#kept(image);
    this.reset();
  }

  /** In the memory of this process, if every reset needs all of it. */
  #kept({ memory, stackPointer }: Image): Image {
    if (!this.#options.init.fresh.strict && !this.#engine.code.libraries) return { memory, stackPointer };
    const all = new Uint8Array(memory.length);
    layImage(all, memory);
    return { memory: all, stackPointer };
  }

  #runsBody(): boolean {
    try {
      this.#running().call(this.#engine.facts.functions.load, new Uint8Array());
      return this.#channel.reply === undefined;
    } catch {
      return false;
    }
  }

  #isPristine({ logs }: BodyOutput): boolean {
    const { output } = this.#options.init.limits;
    const printed = logs.reduce((sum, bytes) => sum + bytes.length, 0);
    const hasNoFiles = this.#scratch.every((tree) => tree.isEmpty);
    const isSmall = this.memoryBytes <= MAX_IMAGE_BYTES;
    return this.#surroundings.process.isPristine && hasNoFiles && isSmall && printed <= output;
  }

  #newInterpreter(memory?: GuestMemory): Interpreter {
    const engine = this.#engine;
    const { init } = this.#options;
    const initialPages = this.#image.memory.length / PAGE_BYTES + SPARE_PAGES;
    if (initialPages > init.limits.pages) throw new OutOfMemory('Python does not fit into the memory limit');
    const interpreter = new Interpreter({
      code: engine.code,
      initialPages,
      maxPages: init.limits.pages,
      restoresAll: init.fresh.strict,
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
      isCommand: this.isCommand,
    });
    return new GuestProcess({
      mounts: this.#mounts(line.ask),
      onOutput: line.log,
      directory: this.#directory,
      channel: this.#channel,
    });
  }

  #mounts(ask: Ask): Mounts {
    const { folders, init } = this.#options;
    const mounts = new Mounts();
    mounts.mount('/lib', this.#engine.library);
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
  if (!reply) return { body: { t: 'error', type: 'NoReply', message: 'the skill closed the channel' } };
  const { payload_bytes: _, ...body } = reply.body;
  if (body.t === 'result') return { body: { t: 'result' }, payload: reply.payload };
  if (body.t === 'ended') return { body: { t: 'ended', exit_code: Number(body.exit_code) & 0xff } };
  return { body: { ...body, t: 'error' } };
}

/** What Python would print and return if it had stopped the command itself. */
function commandEnd(failed: Failed, line: HostLine): Answer {
  if (failed.limit !== undefined || failed.type !== 'RecursionError') return { body: failed };
  line.log(encoder.encode(`${failed.type}: ${String(failed.message)}\n`), 'stderr');
  return { body: { t: 'ended', exit_code: 1 } };
}

/** There are no answers outside a call; a guest that makes a request then is run within its call. */
const NOBODY: HostLine = {
  ask: (): BrokerAnswer => {
    throw new BodyAsks('The module body made a request to the broker');
  },
  log: () => undefined,
  denied: () => undefined,
};

class BodyAsks extends Error {}
