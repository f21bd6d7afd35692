/**
 * Annotations follow from capabilities, and never make a skill look safer than it is.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { combinedHints, hintsFor, type Declared, type Hints } from '../../src/mcp/annotations.ts';

const NOTHING: Declared = {
  capabilities: { filesystem: [], network: [], syscalls: 'default' },
  execution: ['wasm'],
};
const HARMLESS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const DANGEROUS: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

type Capabilities = Declared['capabilities'];
const withCapabilities = (given: Partial<Capabilities>): Declared => ({
  ...NOTHING,
  capabilities: { ...NOTHING.capabilities, ...given },
});

const filesystem = fc.record({
  path: fc.constantFrom('data', '${workspace}', '/srv'),
  access: fc.constantFrom('read' as const, 'read-write' as const),
});
const method = fc.constantFrom('GET', 'get', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'PURGE');
const network = fc.record(
  {
    host: fc.constantFrom('a.example', '*.example'),
    scheme: fc.constantFrom('http' as const, 'https' as const, 'ws' as const, 'wss' as const),
    methods: fc.array(method, { maxLength: 3 }),
  },
  { requiredKeys: ['host'] },
);
const declared: fc.Arbitrary<Declared> = fc.record({
  capabilities: fc.record({
    filesystem: fc.array(filesystem, { maxLength: 3 }),
    network: fc.array(network, { maxLength: 3 }),
    syscalls: fc.constant('default' as const),
  }),
  execution: fc.subarray<'wasm' | 'subprocess' | 'container' | 'in_process'>([
    'wasm',
    'subprocess',
    'container',
    'in_process',
  ]),
});

/** For each hint, higher is more dangerous. */
function dangers(hints: Hints): number[] {
  return [!hints.readOnlyHint, hints.destructiveHint, !hints.idempotentHint, hints.openWorldHint].map(Number);
}

const isAtLeast = (more: Hints, less: Hints): boolean =>
  dangers(more).every((danger, at) => danger >= (dangers(less)[at] ?? 0));

describe('hintsFor', () => {
  test.each<[string, Declared, Partial<Hints>]>([
    ['nothing', NOTHING, HARMLESS],
    ['reading files', withCapabilities({ filesystem: [{ path: '/srv', access: 'read' }] }), HARMLESS],
    [
      'writing files',
      withCapabilities({ filesystem: [{ path: '/srv', access: 'read-write' }] }),
      { ...DANGEROUS, openWorldHint: false },
    ],
    [
      'asking a host',
      withCapabilities({ network: [{ host: 'a.example', methods: ['GET', 'head'] }] }),
      { ...HARMLESS, openWorldHint: true },
    ],
    [
      'sending to a host',
      withCapabilities({ network: [{ host: 'a.example', methods: ['POST'] }] }),
      DANGEROUS,
    ],
    ['any method', withCapabilities({ network: [{ host: 'a.example' }] }), DANGEROUS],
    [
      'an open channel',
      withCapabilities({ network: [{ host: 'a.example', scheme: 'wss', methods: ['GET'] }] }),
      DANGEROUS,
    ],
    ['running in the host', { ...NOTHING, execution: ['wasm', 'in_process'] }, DANGEROUS],
  ])('returns the right hints for %s', (_, given, expected) => {
    expect(hintsFor(given)).toEqual(expected);
  });

  test('never makes a skill look safer with one more capability', () => {
    fc.assert(
      fc.property(declared, filesystem, network, (less, file, rule) => {
        const { capabilities } = less;
        const more = [
          { ...less, capabilities: { ...capabilities, filesystem: [...capabilities.filesystem, file] } },
          { ...less, capabilities: { ...capabilities, network: [...capabilities.network, rule] } },
          { ...less, execution: [...less.execution, 'in_process' as const] },
        ];
        return more.every((one) => isAtLeast(hintsFor(one), hintsFor(less)));
      }),
    );
  });

  test('marks only what changes nothing as read-only, and only what reaches nothing as closed-world', () => {
    fc.assert(
      fc.property(declared, (given) => {
        const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = hintsFor(given);
        const { filesystem: files, network: hosts } = given.capabilities;
        const writes =
          given.execution.includes('in_process') ||
          files.some(({ access }) => access !== 'read') ||
          hosts.some(({ methods }) => !methods?.every((one) => /^(?:get|head|options)$/i.test(one)));
        if (writes) expect(readOnlyHint).toBe(false);
        if (hosts.length > 0) expect(openWorldHint).toBe(true);
        expect(destructiveHint).toBe(!readOnlyHint);
        expect(idempotentHint).toBe(readOnlyHint);
      }),
    );
  });
});

test('a tool that calls any of several skills is as dangerous as each of them', () => {
  fc.assert(
    fc.property(fc.array(declared), (all) => {
      const hints = all.map(hintsFor);
      const combined = combinedHints(hints);
      return hints.every((one) => isAtLeast(combined, one));
    }),
  );
  expect(combinedHints([])).toEqual(HARMLESS);
});
