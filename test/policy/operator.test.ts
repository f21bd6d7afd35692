import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, parsePolicy } from '../../src/policy/operator.ts';
import { thrownBy } from '../thrown.ts';

const parse = (text: string): ReturnType<typeof parsePolicy> => parsePolicy(text, { file: 'p.yaml' });

describe('parsePolicy', () => {
  it('returns the default policy for an empty file', () => {
    expect(parse('')).toEqual({ file: 'p.yaml', ...DEFAULT_POLICY });
    expect(parse('# nothing but a comment\n')).toEqual({ file: 'p.yaml', ...DEFAULT_POLICY });
  });

  it('reads every key and keeps the defaults for missing ones', () => {
    const policy = parse(`
minimum: { external: wasm }
ceilings: { timeout: 60s, memory: 512MiB, processes: 4 }
filesystem: { allow: ["\${workspace}/in/**", /data] }
env: { allow: [API_KEY] }
network: { allow: ["*.example.com"], allow_private: ["127.0.0.1", "::1"] }
`);
    expect(policy).toEqual({
      file: 'p.yaml',
      minimum: { ...DEFAULT_POLICY.minimum, external: 'wasm' },
      minimumSet: ['external'],
      ceilings: { ...DEFAULT_POLICY.ceilings, timeout: 60_000, memory: 512 * 1024 * 1024, processes: 4 },
      ceilingsSet: ['timeout', 'memory', 'processes'],
      filesystem: { allow: ['${workspace}/in/**', '/data'] },
      env: { allow: ['API_KEY'], vouched: ['API_KEY'] },
      network: { allow: ['*.example.com'], allowPrivate: ['127.0.0.1', '::1'] },
    });
  });

  it('reads the setting for fresh instances of Python in Wasm', () => {
    expect(parse('python_wasm: { strict: true }').pythonWasm).toEqual({ newInstance: false, strict: true });
    expect(parse('python_wasm: { new_instance: true }').pythonWasm).toEqual({
      newInstance: true,
      strict: false,
    });
    expect(thrownBy(() => parse('python_wasm: { fresh: true }')).message).toContain('"python_wasm.fresh"');
  });

  it('can forbid everything with empty lists', () => {
    const policy = parse('filesystem: { allow: [] }\nenv: { allow: [] }\nnetwork: { allow: [] }');
    expect([policy.filesystem.allow, policy.env.allow, policy.network.allow]).toEqual([[], [], []]);
  });

  it.each([
    ['skils: []', 'skils'],
    ['skills: [{ match: a/b, decision: ask, wall: jail }]', 'skills.0.wall'],
    ['guard: [{ decision: deny, reason: x, when: now }]', 'guard.0.when'],
    ['ceilings: { fuel: 3 }', 'ceilings.fuel'],
    ['minimum: { stranger: wasm }', 'minimum.stranger'],
  ])('refuses a key that is not enforced: %s', (text, at) => {
    const error = thrownBy(() => parse(text));
    expect(error.code).toBe('usage');
    expect(error.message).toContain(`"${at}"`);
    expect(error.message).toContain('p.yaml');
    expect(error.fix).toContain(`Remove "${at}"`);
  });

  it('reads rules by name, publishers and guards', () => {
    const key = `ed25519:${Buffer.alloc(32, 7).toString('base64')}`;
    const policy = parse(
      [
        'skills: [{ match: "finance/*", decision: ask, require_signature: true }, { match: "*", decision: deny }]',
        `publishers: [{ name: acme, key: "${key}" }]`,
        'guard: [{ skill: "a/b", arguments: [{ path: $.x, above: 3 }], decision: deny, reason: too much }]',
      ].join('\n'),
    );
    expect(policy.skills).toEqual([
      { match: 'finance/*', decision: 'ask', requireSignature: true },
      { match: '*', decision: 'deny', requireSignature: false },
    ]);
    expect(policy.publishers).toEqual([{ name: 'acme', key }]);
    expect(policy.guard).toEqual([
      { skill: 'a/b', arguments: [{ path: '$.x', above: 3 }], decision: 'deny', reason: 'too much' },
    ]);
  });

  it.each([
    ['skills: [{ match: "a/b/c", decision: ask }]', 'skills.0.match'],
    ['skills: [{ match: a, decision: perhaps }]', 'skills.0.decision'],
    ['publishers: [{ name: acme, key: "ed25519:AAAA" }]', 'publishers.0.key'],
    ['guard: [{ decision: deny, reason: "" }]', 'guard.0.reason'],
    ['guard: [{ decision: deny, reason: x, arguments: [{ path: x }] }]', 'guard.0.arguments.0.path'],
    ['guard: [{ decision: deny, reason: x, arguments: [{ path: $.x }] }]', 'guard.0.arguments.0'],
    ['ceilings: { timeout: soon }', 'ceilings.timeout'],
    ['ceilings: { memory: [] }', 'ceilings.memory'],
    ['ceilings: { processes: -1 }', 'ceilings.processes'],
    ['ceilings: { timeout: .inf }', 'ceilings.timeout'],
    ['minimum: { bundled: strong }', 'minimum.bundled'],
    ['filesystem: { allow: [data] }', 'filesystem.allow.0'],
    ['filesystem: { allow: ["/data/../etc"] }', 'filesystem.allow.0'],
    ['filesystem: { allow: ["${workspace}x"] }', 'filesystem.allow.0'],
    ['network: { allow: ["*"] }', 'network.allow.0'],
    ['network: { allow_private: ["localhost"] }', 'network.allow_private.0'],
    ['env: { allow: ["A B"] }', 'env.allow.0'],
    ['env: {}', 'env.allow'],
    ['[]', 'the top level'],
  ])('refuses a wrong value and names its path: %s', (text, at) => {
    const error = thrownBy(() => parse(text));
    expect(error.code).toBe('usage');
    expect(error.detail).toMatchObject({ file: 'p.yaml', at });
  });

  it.each(['minimum: {', 'env: { allow: [] }\nenv: { allow: [] }', 'a: &x 1\nb: *x'])(
    'refuses broken YAML, duplicate keys and aliases: %j',
    (text) => expect(thrownBy(() => parse(text)).code).toBe('usage'),
  );

  it('has a finite ceiling for every limit by default', () => {
    expect(Object.values(DEFAULT_POLICY.ceilings).every(Number.isFinite)).toBe(true);
    expect(DEFAULT_POLICY.filesystem.allow).toEqual(['${workspace}/**']);
  });
});
