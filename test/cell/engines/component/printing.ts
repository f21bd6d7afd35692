/**
 * Components that print to the streams of `wasi:cli` before they reply.
 *
 * @module
 */
import { skillComponent } from '../../../../attacks/wasm/component.ts';
import type { Interface } from '../../../../attacks/wasm/interfaces.ts';
import { allocator } from '../../../../attacks/wasm/sources/skill.ts';
import { instanceType } from '../../../../src/build/wit/instance-type.ts';
import {
  borrow,
  list,
  own,
  result,
  type Interface as WitInterface,
} from '../../../../src/build/wit/types.ts';
import { wat } from '../../../wasm/binary/support.ts';

const WRITE = '[method]output-stream.blocking-write-and-flush';
const [ANSWER, TEXTS] = [256, 1024] as const;

const STREAMS: WitInterface = {
  id: 'wasi:io/streams@0.2.0',
  uses: {},
  types: { 'output-stream': 'resource' },
  functions: {
    [WRITE]: { params: { self: borrow('output-stream'), contents: list('u8') }, result: result() },
  },
};

const output = (stream: 'stdout' | 'stderr'): WitInterface => ({
  id: `wasi:cli/${stream}@0.2.0`,
  uses: { 'output-stream': STREAMS },
  types: {},
  functions: { [`get-${stream}`]: { params: {}, result: own('output-stream') } },
});

function imported(of: WitInterface, resources: string[] = []): Interface {
  const functions = Object.keys(of.functions);
  return {
    name: of.id,
    type: (typeOf) => instanceType({ of, functions, types: resources }, typeOf),
    functions,
    resources,
  };
}

export interface Printing {
  stdout?: string;
  stderr?: string;
  /** `execute` returns this text, `run` succeeds; or the component ends with a trap or an error. */
  end: { answer: string } | 'ok' | 'err' | 'trap';
}

/** A command exports `wasi:cli/run`, anything else `execute`. */
export function printingComponent(
  { stdout = '', stderr = '', end }: Printing,
  isCommand: boolean,
): Uint8Array {
  const texts = [stdout, stderr, typeof end === 'object' ? end.answer : ''];
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const at = texts.map((_, index) => TEXTS + lengths.slice(0, index).reduce((sum, one) => sum + one, 0));
  const print = (stream: string, index: number): string =>
    `(drop (call $write (call $${stream}) (i32.const ${at[index]}) (i32.const ${lengths[index]})))`;
  const ends = { ok: '(i32.const 0)', err: '(i32.const 1)', trap: '(unreachable)' };
  const answer = `(i32.store (i32.const ${ANSWER + 4}) (i32.const ${at[2]}))
    (i32.store (i32.const ${ANSWER + 8}) (i32.const ${lengths[2]})) (i32.const ${ANSWER})`;
  const main = `(module (import "env" "memory" (memory 1))
    (import "host" "get-stdout" (func $stdout (result i32)))
    (import "host" "get-stderr" (func $stderr (result i32)))
    (import "host" "${WRITE}" (func $write (param i32 i32 i32) (result i32)))
    (data (i32.const ${TEXTS}) "${texts.map(escaped).join('')}")
    (func (export "execute") ${isCommand ? '' : '(param i32 i32)'} (result i32)
      ${print('stdout', 0)} ${print('stderr', 1)} ${typeof end === 'object' ? answer : ends[end]}))`;
  return skillComponent({
    allocator: wat(allocator()),
    main: wat(main),
    imports: [imported(STREAMS, ['output-stream']), imported(output('stdout')), imported(output('stderr'))],
    isCommand,
  });
}

function escaped(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
}
