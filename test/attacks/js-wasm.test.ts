/**
 * Every attack on JavaScript in Wasm is stopped and gets the answer it must get, inside the jail and without one.
 *
 * @module
 */
import { describe, expect, it } from 'vitest';
import { sourceNames } from '../../attacks/runner/attack-source.ts';
import { JS_ATTACKS } from '../../attacks/runner/js-attacks.ts';
import { itStopsInWasm } from './suite.ts';

/** Attacks that call the host, search it, or exceed a limit; the others never leave the engine. */
const AT_THE_WALL = JS_ATTACKS.filter(
  ({ name, codes }) =>
    /^js_(?:import|walk|read)/.test(name) ||
    codes.some((code) => code === 'capability_denied' || code === 'resource_exceeded'),
);

it('every attack on JavaScript in Wasm has a source, and every source has an attack', () => {
  expect(JS_ATTACKS.map(({ name }) => name).sort()).toEqual(sourceNames('js-wasm'));
});

describe('the attacks on JavaScript in Wasm', () => {
  itStopsInWasm(JS_ATTACKS, AT_THE_WALL);
});
