/**
 * structuredClone, without transfer: a cell has no other thread to transfer to.
 *
 * @module
 */
const ERRORS: ReadonlyMap<string, ErrorConstructor> = new Map(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((kind) => [
    kind.name,
    kind,
  ]),
);

export function structuredClone(value: unknown): unknown {
  return copy(value, new Map());
}

function copy(value: unknown, done: Map<object, unknown>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return refuse(value);
  if (typeof value !== 'object' || value === null) return value;
  const known = done.get(value);
  if (known !== undefined) return known;
  const simple = copySimple(value);
  if (simple !== undefined) {
    done.set(value, simple);
    return simple;
  }
  return copyHolder(value, done);
}

/** Values that contain no other values. */
function copySimple(value: object): unknown {
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  // oxlint-disable-next-line unicorn/no-instanceof-builtins -- boxed primitives are meant
  if (value instanceof Boolean || value instanceof Number || value instanceof String)
    return Object(value.valueOf());
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) {
    const kind = value.constructor as new (buffer: ArrayBufferLike) => unknown;
    return new kind(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
  }
  return undefined;
}

function copyHolder(value: object, done: Map<object, unknown>): unknown {
  const kept = <T extends object>(made: T): T => (done.set(value, made), made);
  if (value instanceof Map) {
    const made = kept(new Map());
    for (const [key, item] of value) made.set(copy(key, done), copy(item, done));
    return made;
  }
  if (value instanceof Set) {
    const made = kept(new Set());
    for (const item of value) made.add(copy(item, done));
    return made;
  }
  if (value instanceof Error) return kept(copyError(value, done));
  if (
    value instanceof Promise ||
    value instanceof WeakMap ||
    value instanceof WeakSet ||
    value instanceof WeakRef
  )
    return refuse(value);
  const made = kept(Array.isArray(value) ? Array.from({ length: value.length }) : {}) as Record<
    string,
    unknown
  >;
  for (const key of Object.keys(value)) made[key] = copy((value as Record<string, unknown>)[key], done);
  return made;
}

function copyError(error: Error, done: Map<object, unknown>): Error {
  const made = new (ERRORS.get(error.name) ?? Error)(error.message);
  if ('cause' in error) made.cause = copy(error.cause, done);
  return made;
}

function refuse(value: unknown): never {
  throw new DOMException(`${typeof value} cannot be cloned`, 'DataCloneError');
}
