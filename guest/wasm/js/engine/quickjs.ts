/**
 * One instance of QuickJS. Its whole mutable state is its memory and two globals, as verified by the installer, so an
 * image of them is the complete engine at that moment.
 *
 * @module
 */
/* oxlint-disable no-underscore-dangle -- names of the C library */
import { GuestEnd, type ModuleFacts } from '../../contract.ts';
import { GuestMemory } from '../../imaged/guest-memory.ts';
import { Image } from '../../imaged/image.ts';
import { EVAL_MODULE, type EngineExports, type Value } from './exports.ts';
import { engineImports, type Surroundings } from './imports.ts';

/** Out of the megabyte that the engine was linked with. The V8 stack grows alongside and must not overflow first. */
const STACK_BYTES = 256 * 1024;
/** Memory that the first calls may use without growing it, which would cost each of them a new instance. */
const SPARE_BYTES = 1024 * 1024;
const WORD_BYTES = 4;

export interface EngineCode {
  module: WebAssembly.Module;
  facts: Pick<ModuleFacts, 'fuelExport' | 'growthExport' | 'state'>;
}

export class QuickJs {
  readonly memory: GuestMemory;
  readonly #exports: EngineExports;
  readonly #all: WebAssembly.Exports;
  readonly #code: EngineCode;
  readonly #fuel: WebAssembly.Global;

  constructor(code: EngineCode, around: Surroundings) {
    this.#code = code;
    const imports = engineImports(() => this, around);
    this.#all = new WebAssembly.Instance(code.module, imports).exports;
    this.#exports = this.#all as unknown as EngineExports;
    this.memory = new GuestMemory(this.#exports.memory);
    this.#fuel = this.#all[code.facts.fuelExport] as WebAssembly.Global;
  }

  /** Prepares the engine for its first script. Not needed for an instance that an image is restored into. */
  boot(): void {
    const exports = this.#exports;
    exports._initialize();
    if (exports.qjs_init() !== 0) throw new GuestEnd('limit', 'memory');
    exports.qjs_set_max_stack_size(STACK_BYTES);
    exports.qjs_set_module_loader(1);
    exports.qjs_set_promise_rejection_handler(1);
  }

  /** Grows the memory ahead, so that the code that runs next need not. */
  makeRoom(): void {
    this.#exports.wasm_free(this.#allocate(SPARE_BYTES));
  }

  get fuel(): bigint {
    return this.#fuel.value as bigint;
  }

  set fuel(units: bigint) {
    this.#fuel.value = units;
  }

  /** Whether a growth of the memory was refused since the image was taken. */
  get hasFailedToGrow(): boolean {
    const { growthExport } = this.#code.facts;
    return growthExport !== undefined && (this.#all[growthExport] as WebAssembly.Global).value !== 0;
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  takeImage(): Image {
    const image = Image.of([this.#code.facts as { state: ModuleFacts['state'] }], [this.#all]);
    if (!image) throw new Error('The engine has state that an image cannot restore');
    return image;
  }

  /** False if the memory differs in size from the image: it has grown, or the instance is new. */
  restore(image: Image): boolean {
    return image.restore([this.#code.facts as { state: ModuleFacts['state'] }], [this.#all]);
  }

  /** Grows the memory of a new instance to the size of another. */
  growTo(bytes: number): void {
    const { memory } = this.#exports;
    const missing = (bytes - memory.buffer.byteLength) / 65_536;
    try {
      if (missing > 0) memory.grow(missing);
    } catch {
      throw new GuestEnd('limit', 'memory');
    }
  }

  /** Runs the source of a module. `runJobs` runs the jobs that it leaves behind. */
  evaluate(source: string, name: string): void {
    const text = this.leaveText(source);
    const label = this.leaveText(name);
    const result = this.#exports.qjs_eval(text.address, text.bytes, label.address, EVAL_MODULE);
    this.#mustSucceed(result);
    for (const { address } of [text, label]) this.#exports.wasm_free(address);
    this.#exports.qjs_free_value(result);
  }

  /** Calls a function of the prelude, and takes ownership of the arguments. */
  call(callee: Value, ...args: Value[]): void {
    const exports = this.#exports;
    const list = this.#allocate(Math.max(1, args.length) * WORD_BYTES);
    args.forEach((arg, at) => this.memory.setU32(list + at * WORD_BYTES, arg));
    const self = exports.qjs_get_undefined();
    const result = exports.qjs_call(callee, self, args.length, list);
    exports.wasm_free(list);
    this.#mustSucceed(result);
    for (const value of [...args, self, result]) exports.qjs_free_value(value);
  }

  /** Runs pending promise jobs until none is left. */
  runJobs(): void {
    while (this.#exports.qjs_is_job_pending() !== 0) {
      if (this.#exports.qjs_execute_pending_job() < 0) this.#fail();
    }
  }

  get global(): Value {
    return this.#exports.qjs_get_global();
  }

  property(object: Value, name: string): Value {
    const { address } = this.leaveText(name);
    const value = this.#exports.qjs_get_prop_string(object, address);
    this.#exports.wasm_free(address);
    return value;
  }

  /** The caller keeps ownership of the value. */
  setProperty(object: Value, name: string, value: Value): void {
    const { address } = this.leaveText(name);
    this.#exports.qjs_set_prop_string(object, address, value);
    this.#exports.wasm_free(address);
  }

  newHostFunction(name: string): Value {
    const { address, bytes } = this.leaveText(name);
    const made = this.#exports.qjs_new_host_function(address, bytes, 0);
    this.#exports.wasm_free(address);
    return made;
  }

  newObject(): Value {
    return this.#exports.qjs_new_object();
  }

  get undefined(): Value {
    return this.#exports.qjs_get_undefined();
  }

  newNumber(value: number): Value {
    return this.#exports.qjs_new_number(value);
  }

  /** Creates a string from UTF-8. */
  newText(utf8: Uint8Array): Value {
    const address = this.#leave(utf8);
    const value = this.#exports.qjs_new_string(address, utf8.length);
    this.#exports.wasm_free(address);
    return value;
  }

  newBytes(bytes: Uint8Array): Value {
    const address = this.#leave(bytes);
    const value = this.#exports.qjs_new_uint8_array(address, bytes.length);
    this.#exports.wasm_free(address);
    return value;
  }

  number(value: Value | undefined): number {
    return value === undefined ? Number.NaN : this.#exports.qjs_get_float64(value);
  }

  /** UTF-8 of a string, as a copy; undefined for other values. */
  utf8(value: Value | undefined): Uint8Array | undefined {
    const exports = this.#exports;
    if (value === undefined || exports.qjs_is_string(value) === 0) return undefined;
    const length = this.#allocate(WORD_BYTES);
    const address = exports.qjs_get_string_len(value, length);
    if (address === 0) throw new GuestEnd('limit', 'memory');
    const bytes = this.memory.slice(address, this.memory.u32(length)).slice();
    exports.qjs_free_cstring(address);
    exports.wasm_free(length);
    return bytes;
  }

  /** Empty for values that are not strings. */
  text(value: Value | undefined): string {
    const utf8 = this.utf8(value);
    return utf8 ? Buffer.from(utf8).toString('utf8') : '';
  }

  /** Bytes of a typed array, as a copy; undefined for other values. */
  bytes(value: Value | undefined): Uint8Array | undefined {
    if (value === undefined) return undefined;
    const exports = this.#exports;
    const words = this.#allocate(4 * WORD_BYTES);
    const [offset, length, item, whole] = [0, 1, 2, 3].map((at) => words + at * WORD_BYTES) as Words;
    const buffer = exports.qjs_get_typed_array_buffer(value, offset, length, item);
    let copy: Uint8Array | undefined;
    if (exports.qjs_is_exception(buffer) === 0) {
      const start = exports.qjs_get_array_buffer(buffer, whole) + this.memory.u32(offset);
      copy = this.memory.slice(start, this.memory.u32(length)).slice();
    } else exports.qjs_free_value(exports.qjs_get_exception());
    exports.qjs_free_value(buffer);
    exports.wasm_free(words);
    return copy;
  }

  /** Address of the object itself, the same for every box that holds it. */
  identity(value: Value): number {
    return this.#exports.qjs_get_value_ptr(value);
  }

  free(value: Value): void {
    this.#exports.qjs_free_value(value);
  }

  leaveText(text: string): { address: number; bytes: number } {
    const utf8 = Buffer.from(text);
    return { address: this.#leave(utf8), bytes: utf8.length };
  }

  throwError(error: unknown): void {
    const made = this.#exports.qjs_new_error();
    const message = this.newText(Buffer.from(error instanceof Error ? error.message : String(error)));
    this.setProperty(made, 'message', message);
    this.#exports.qjs_throw(made);
    for (const value of [message, made]) this.#exports.qjs_free_value(value);
  }

  /** Appends a NUL, which scripts and names require. */
  #leave(bytes: Uint8Array): number {
    const address = this.#allocate(bytes.length + 1);
    const place = this.memory.slice(address, bytes.length + 1);
    place.set(bytes);
    place[bytes.length] = 0;
    return address;
  }

  #allocate(bytes: number): number {
    const address = this.#exports.wasm_malloc(bytes);
    if (address === 0) throw new GuestEnd('limit', 'memory');
    return address;
  }

  #mustSucceed(result: Value): void {
    if (result === 0 || this.#exports.qjs_is_exception(result) !== 0) this.#fail();
  }

  /** Our own code threw an exception: it ran out of memory, or the skill changed what it relies on. */
  #fail(): never {
    if (this.hasFailedToGrow) throw new GuestEnd('limit', 'memory');
    const error = this.#exports.qjs_get_exception();
    const message = this.property(error, 'message');
    throw new GuestEnd('trap', `The prelude failed: ${this.text(message)}`);
  }
}

type Words = [number, number, number, number];
