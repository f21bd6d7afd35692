import { array, assert, asyncProperty, stringMatching } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HostInterfaces } from '../../../guest/wasm/contract.ts';
import { rewriteModule } from '../../../guest/wasm/install/rewrite.ts';
import {
  prepareComponent,
  type ComponentInstance,
  type PreparedComponent,
} from '../../../guest/wasm/link/linker.ts';
import { GUEST_BASICS } from '../abi/support.ts';
import { parseModule, wat } from '../binary/support.ts';
import { apiOf, LIMITS, mainModule, prepareSkill, skillDefinitions, type SkillParts } from './support.ts';

/** Installed, with an inventory of what its instances can change. */
function installed(parts: SkillParts, host: HostInterfaces = {}, countsPages = false): PreparedComponent {
  const takenNames = new Set<string>();
  const modules = [`(module ${GUEST_BASICS})`, mainModule(parts)].map((text) => {
    const options = { maxPages: 64, takenNames, inventory: true, countsPages };
    const { bytes, facts } = rewriteModule(parseModule(wat(text)), options);
    return { module: new WebAssembly.Module(bytes.slice()), facts };
  });
  return prepareComponent({ component: { definitions: skillDefinitions(parts) }, modules, host });
}

/** Returns a digit: how often it was called, according to its memory and its global. */
const COUNTER = `(global $calls (mut i32) (i32.const 0))
  (func (export "execute") (param i32 i32) (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store (i32.const 100) (i32.add (i32.load (i32.const 100)) (i32.const 1)))
    (i32.store8 (i32.const 200)
      (i32.add (i32.const 48) (i32.add (global.get $calls) (i32.load (i32.const 100)))))
    (i32.store8 (i32.const 64) (i32.const 0))
    (i32.store (i32.const 68) (i32.const 200))
    (i32.store (i32.const 72) (i32.const 1))
    (i32.const 64))`;

/** The same, with something else before it. */
const counterThat = (act: string): string =>
  COUNTER.replace('(global.set $calls', `${act}\n    (global.set $calls`);

/** The instance of the next call: the same one if it can be reset. */
function again(prepared: PreparedComponent, used: ComponentInstance): ComponentInstance {
  return prepared.startOver(used) ? used : prepared.instantiate(LIMITS);
}

async function twice(
  prepared: PreparedComponent,
  params = '',
): Promise<{ same: boolean; answers: unknown[] }> {
  const first = prepared.instantiate(LIMITS);
  const answers: unknown[] = [await first.callExecute(params)];
  const second = again(prepared, first);
  answers.push(await second.callExecute(params));
  return { same: first === second, answers };
}

const ONE_CALL = { kind: 'ok', value: '2' };

describe('an instance that is reset', () => {
  test('has no trace of the previous call', async () => {
    expect(await twice(installed({ main: COUNTER }))).toEqual({ same: true, answers: [ONE_CALL, ONE_CALL] });
  });

  test('uses the same fuel, and has the whole budget again', async () => {
    const prepared = installed({ main: COUNTER });
    let instance = prepared.instantiate(LIMITS);
    const used = new Set<bigint>();
    for (let call = 0; call < 5; call++) {
      await instance.callExecute('x');
      used.add(instance.usage().fuel);
      instance = again(prepared, instance);
    }
    expect(used.size).toBe(1);
  });

  test('has the effects of its start function once', async () => {
    const start = '(func $start (i32.store (i32.const 100) (i32.const 3))) (start $start)';
    const { same, answers } = await twice(installed({ main: COUNTER + start }));
    expect(same).toBe(true);
    expect(answers).toEqual([
      { kind: 'ok', value: '5' },
      { kind: 'ok', value: '5' },
    ]);
  });

  test('cannot be called again without a reset', async () => {
    const instance = installed({ main: COUNTER }).instantiate(LIMITS);
    await instance.callExecute('');
    await expect(instance.callExecute('')).rejects.toThrow('already served a call');
  });

  test('behaves like a new one, wherever earlier calls wrote in memory', async () => {
    // Adds up all of memory, then fills 1 KiB at an address that its parameters choose.
    const main = `(func (export "execute") (param $at i32) (param $length i32) (result i32)
      (local $sum i32) (local $next i32)
      (loop $more
        (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load (local.get $next))))
        (local.set $next (i32.add (local.get $next) (i32.const 4)))
        (br_if $more (i32.lt_u (local.get $next) (i32.const 65536))))
      (memory.fill
        (i32.mul (i32.and (i32.load8_u (local.get $at)) (i32.const 63)) (i32.const 1008))
        (i32.const 255) (i32.const 1024))
      (i32.store16 (i32.const 200) (i32.or (i32.and (local.get $sum) (i32.const 0x3f3f)) (i32.const 0x4040)))
      (i32.store8 (i32.const 64) (i32.const 0))
      (i32.store (i32.const 68) (i32.const 200))
      (i32.store (i32.const 72) (i32.const 2))
      (i32.const 64))`;
    const prepared = installed({ main });
    const text = stringMatching(/^[ -~]{1,40}$/);
    await assert(
      asyncProperty(array(text, { minLength: 2, maxLength: 5 }), async (calls) => {
        let instance = prepared.instantiate(LIMITS);
        for (const params of calls) {
          const fresh = await prepared.instantiate(LIMITS).callExecute(params);
          expect(await instance.callExecute(params)).toEqual(fresh);
          const next = again(prepared, instance);
          expect(next).toBe(instance);
          instance = next;
        }
      }),
      { numRuns: 30 },
    );
  });
});

test('does not receive a late answer of the host to an earlier call', async () => {
  const answers: ((value: number) => void)[] = [];
  const call = (): Promise<number> => new Promise((resolve) => answers.push(resolve));
  const host = { 'test:host/api': { ask: { suspends: true, call } } };
  const imports = '(import "host" "ask" (func $ask (result i32)))';
  const main = counterThat('(i32.store8 (i32.const 300) (call $ask))');
  const prepared = installed({ api: apiOf('ask', [], 'u32'), imports, main }, host);
  const instance = prepared.instantiate(LIMITS);
  const first = instance.callExecute('');
  expect(prepared.startOver(instance)).toBe(true);
  answers[0]?.(1);
  // It neither continues in the memory of the next call nor ends that one.
  expect(await first).toMatchObject({ kind: 'trap' });
  const next = prepared.instantiate(LIMITS);
  const second = next.callExecute('');
  answers[1]?.(1);
  expect(await second).toEqual(ONE_CALL);
});

describe('a module that counts its pages', () => {
  const PAGE_BYTES = 65_536;
  const counting = (): PreparedComponent => installed({ main: COUNTER }, {}, true);

  test('is reset although it grew, and reports what it used', async () => {
    const prepared = counting();
    const first = prepared.instantiate(LIMITS);
    expect(await first.callExecute('x'.repeat(2 * PAGE_BYTES))).toEqual(ONE_CALL);
    expect(first.usage().memoryBytes).toBe(3 * PAGE_BYTES);
    const second = again(prepared, first);
    expect(second).toBe(first);
    expect(second.usage().memoryBytes).toBe(PAGE_BYTES);
    expect(await second.callExecute('')).toEqual(ONE_CALL);
  });

  test('is replaced by a new instance if it grew beyond its extra pages', async () => {
    const { same, answers } = await twice(counting(), 'x'.repeat(20 * PAGE_BYTES));
    expect(same).toBe(false);
    expect(answers).toEqual([ONE_CALL, ONE_CALL]);
  });
});

describe('a new instance is created', () => {
  test('after a call that grew the memory', async () => {
    const main = counterThat('(drop (memory.grow (i32.const 1)))');
    const { same, answers } = await twice(installed({ main }));
    expect(same).toBe(false);
    expect(answers).toEqual([ONE_CALL, ONE_CALL]);
  });

  test('after a call that trapped', async () => {
    const { same } = await twice(installed({ main: counterThat('(unreachable)') }));
    expect(same).toBe(false);
  });

  test('if the code changes tables', async () => {
    const main = counterThat('(table.set $t (i32.const 0) (ref.null func))');
    const { same, answers } = await twice(installed({ main: `(table $t 1 funcref) ${main}` }));
    expect(same).toBe(false);
    expect(answers).toEqual([ONE_CALL, ONE_CALL]);
  });

  test('if it called the host before there was a call', async () => {
    const host = { 'test:host/api': { ask: { call: () => 1 } } };
    const imports = '(import "host" "ask" (func $ask (result i32)))';
    const parts = { api: apiOf('ask', [], 'u32'), imports, main: COUNTER };
    const asking = { ...parts, main: `${COUNTER} (func $start (drop (call $ask))) (start $start)` };
    expect((await twice(installed(parts, host))).same).toBe(true);
    expect((await twice(installed(asking, host))).same).toBe(false);
  });

  test('if there is no inventory', async () => {
    expect((await twice(prepareSkill({ main: COUNTER }))).same).toBe(false);
  });
});
