import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { HostInterfaces, HostResource } from '../../../guest/wasm/contract.ts';
import { install } from '../../../guest/wasm/install/plan.ts';
import { prepareComponent, type PreparedComponent } from '../../../guest/wasm/link/linker.ts';
import { execute, LIMITS } from './support.ts';

function prepareFixture(host: HostInterfaces): PreparedComponent {
  const { plan, modules } = install(readFileSync(new URL('../fixtures/hosted.wasm', import.meta.url)), {
    maxPages: 16,
  });
  if (plan.component === undefined) throw new Error('The fixture is not a component');
  const facts = plan.modules;
  return prepareComponent({
    component: plan.component,
    modules: modules.map((bytes, index) => ({
      module: new WebAssembly.Module(bytes),
      facts: facts[index] ?? { fuelExport: '' },
    })),
    host,
  });
}

class Counter implements HostResource {
  value: number;
  dropped = false;

  constructor(value: number) {
    this.value = value;
  }

  drop(): void {
    this.dropped = true;
  }
}

function countingHost(): { host: HostInterfaces; counters: Counter[]; logged: unknown[][] } {
  const counters: Counter[] = [];
  const logged: unknown[][] = [];
  const construct = (start: unknown): Counter => {
    const counter = new Counter(Number(start));
    counters.push(counter);
    return counter;
  };
  return {
    counters,
    logged,
    host: {
      'skillcell:fixture/host': {
        '[constructor]counter': { call: construct },
        '[method]counter.next': { call: (self) => ((self as Counter).value += 1) },
        '[static]counter.make': { call: () => undefined },
        log: { call: (...args) => void logged.push(args) },
      },
    },
  };
}

describe('a component built by other tools, parsed and rewritten by the installer', () => {
  it('receives resources, enums, flags and variants of the host', async () => {
    const { host, counters, logged } = countingHost();
    expect(await execute(prepareFixture(host), 'hello')).toEqual({ kind: 'ok', value: 'hello' });
    expect(counters).toMatchObject([{ value: 42, dropped: true }]);
    expect(logged).toEqual([['info', 'hello', { read: true, write: false }, { tag: 'circle', val: 0 }]]);
  });

  it('pays the same fuel every time, and stops without it', async () => {
    const prepared = prepareFixture(countingHost().host);
    const used = new Set<bigint>();
    for (let round = 0; round < 3; round += 1) {
      const instance = prepared.instantiate(LIMITS);
      await instance.callExecute('hello');
      used.add(instance.usage().fuel);
    }
    const [fuel = 0n] = used;
    expect(used.size).toBe(1);
    expect(fuel).toBeGreaterThan(0n);
    expect(await execute(prepared, 'hello', { fuel })).toMatchObject({ kind: 'ok' });
    expect(await execute(prepared, 'hello', { fuel: fuel - 1n })).toEqual({ kind: 'limit', limit: 'fuel' });
  });

  it('is refused with the name of a missing import', () => {
    const { host } = countingHost();
    delete host['skillcell:fixture/host']?.['[method]counter.next'];
    expect(() => prepareFixture(host)).toThrow(
      expect.objectContaining({ interface: 'skillcell:fixture/host', function: '[method]counter.next' }),
    );
  });
});
