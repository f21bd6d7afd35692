/**
 * `skillcell:skill/host` in the component binary format: what a component that imports some of it says about their
 * types. The words are those of guest/wasm/wit/skill.wit.
 *
 * @module
 */
import { list, name, type Bytes } from './binary.ts';

export const HOST_INTERFACE = 'skillcell:skill/host@0.1.0';

const U8 = 0x7d;
const U16 = 0x7b;
const STRING = 0x73;

/** Types and exports of an instance in the order in which they are declared; both kinds number the types. */
class Declarations {
  readonly items: Bytes[] = [];
  #types = 0;

  type(definition: Bytes): number {
    this.items.push([0x01, ...definition]);
    return this.#types++;
  }

  /** Records and enums have to be known by a name before a function may use them. */
  namedType(label: string, definition: Bytes): number {
    const index = this.type(definition);
    this.items.push([0x04, 0x00, ...name(label), 0x03, 0x00, index]);
    return this.#types++;
  }

  func(label: string, params: Record<string, number>, result?: number): void {
    const named = Object.entries(params).map(labelled);
    const index = this.type([
      0x40,
      ...list(named),
      ...(result === undefined ? [0x01, 0x00] : [0x00, result]),
    ]);
    this.items.push([0x04, 0x00, ...name(label), 0x01, index]);
  }
}

interface HostFunction {
  /** How many i32 its core function takes; a result goes through memory, whose address is the last of them. */
  coreParams: number;
  declare: (to: Declarations) => void;
}

export const HOST_FUNCTIONS: Readonly<Record<string, HostFunction>> = {
  log: {
    coreParams: 3,
    declare: (to) => {
      const labels = ['trace', 'debug', 'info', 'warn', 'error'].map(name);
      const level = to.namedType('level', [0x6d, ...list(labels)]);
      to.func('log', { level, message: STRING });
    },
  },
  fetch: {
    coreParams: 9,
    declare: (to) => {
      const pair = to.type([0x6f, ...list([[STRING], [STRING]])]);
      const headers = to.type([0x70, pair]);
      const body = to.type([0x70, U8]);
      const fields = Object.entries({ status: U16, headers, body });
      const response = to.namedType('response', [0x72, ...list(fields.map(labelled))]);
      const result = to.type([0x6a, 0x01, response, 0x01, STRING]);
      to.func('fetch', { method: STRING, url: STRING, headers, body }, result);
    },
  },
};

function labelled([key, type]: [string, number]): Bytes {
  return [...name(key), type];
}

/** The type of the imported instance, with the functions that are used. */
export function hostInstanceType(functions: readonly string[]): Bytes {
  const declarations = new Declarations();
  for (const key of functions) HOST_FUNCTIONS[key]?.declare(declarations);
  return [0x42, ...list(declarations.items)];
}
