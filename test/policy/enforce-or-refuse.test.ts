import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { assertEnforceable } from '../../src/policy/enforce-or-refuse.ts';
import { ENFORCED_FIELDS, type EnforcedField } from '../../src/vocabulary/capabilities.ts';
import type { EnforcementTable } from '../../src/policy/enforcement.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { capableManifest, exampleManifest } from './example-manifest.ts';
import { thrownBy } from '../thrown.ts';

function tableWithout(...open: EnforcedField[]): EnforcementTable {
  const entries = ENFORCED_FIELDS.map((field) => [
    field,
    open.includes(field) ? { by: 'nobody', how: `help for ${field}` } : { by: 'kernel', how: 'a wall' },
  ]);
  return Object.fromEntries(entries) as EnforcementTable;
}

const env = (secret: boolean): Manifest =>
  exampleManifest({ env: { KEY: { required: false, secret, hosts: [] } } });

/** A manifest that sets exactly this field. */
const SETTERS: Record<EnforcedField, Manifest> = {
  filesystem: capableManifest({ filesystem: [{ path: '${workspace}', access: 'read' }] }),
  'filesystem.max_bytes': capableManifest({
    filesystem: [{ path: '${workspace}', access: 'read-write', maxBytes: 1 }],
  }),
  network: capableManifest({ network: [{ host: 'example.com' }] }),
  'network.inside_tls': capableManifest({ network: [{ host: 'example.com', methods: ['GET'] }] }),
  'network.websocket': capableManifest({ network: [{ host: 'example.com', scheme: 'wss' }] }),
  env: env(false),
  'env.secret': env(true),
  syscalls: capableManifest({ syscalls: 'strict' }),
  programs: capableManifest({ programs: ['pdftoppm'] }),
  skills: capableManifest({ skills: ['text/*'] }),
  timeout: exampleManifest({ limits: { timeout: 1 } }),
  cpu: exampleManifest({ limits: { cpu: 1 } }),
  'cpu.processes': exampleManifest({ limits: { cpu: 1, processes: 2 } }),
  memory: exampleManifest({ limits: { memory: 1 } }),
  'memory.processes': exampleManifest({ limits: { memory: 1, processes: 2 } }),
  output: exampleManifest({ limits: { output: 1 } }),
  processes: exampleManifest({ limits: { processes: 0 } }),
  scratch: exampleManifest({ limits: { scratch: 1 } }),
};

const check = (manifest: Manifest, table: EnforcementTable): void =>
  assertEnforceable({ manifest, table, pair: 'jail + python' });

describe('assertEnforceable', () => {
  it.each(ENFORCED_FIELDS)('refuses %s if it is set and nothing enforces it', (field) => {
    const error = thrownBy(() => check(SETTERS[field], tableWithout(field)));
    expect(error.code).toBe('unenforceable');
    expect(error.message).toContain(`"${field}"`);
    expect(error.message).toContain('"jail + python"');
    expect(error.fix).toContain(`help for ${field}`);
    expect(error.detail).toEqual({ pair: 'jail + python', fields: [field] });
  });

  it.each(ENFORCED_FIELDS)('accepts %s if something enforces it', (field) => {
    expect(() => check(SETTERS[field], tableWithout())).not.toThrow();
  });

  it.each([
    ['https', true],
    ['wss', true],
    ['http', false],
  ] as const)('needs TLS inspection for a secret whose host is declared with %s: %s', (scheme, isInside) => {
    const manifest = {
      ...capableManifest({ network: [{ host: '*.example.com', scheme }] }),
      env: { KEY: { required: false, secret: true, hosts: ['api.example.com'] } },
    };
    const act = (): void => check(manifest, tableWithout('network.inside_tls'));
    if (isInside) expect(thrownBy(act).detail).toMatchObject({ fields: ['network.inside_tls'] });
    else expect(act).not.toThrow();
  });

  it('accepts a manifest that sets nothing even if nothing is enforced', () => {
    expect(() => check(exampleManifest(), tableWithout(...ENFORCED_FIELDS))).not.toThrow();
  });

  it('names every unenforced field at once', () => {
    const manifest = exampleManifest({ limits: { memory: 1, cpu: 1 } });
    const error = thrownBy(() => check(manifest, tableWithout('memory', 'cpu')));
    expect(error.detail['fields']).toEqual(['cpu', 'memory']);
  });

  it('refuses a ceiling that the operator configured and nothing enforces', () => {
    const policy = parsePolicy('ceilings: { memory: 1GiB }', { file: 'p.yaml' });
    const input = { manifest: exampleManifest(), table: tableWithout('memory'), pair: 'jail + python' };
    expect(() => assertEnforceable(input)).not.toThrow();
    expect(thrownBy(() => assertEnforceable({ ...input, policy })).code).toBe('unenforceable');
  });
});
