import { describe, expect, it } from 'vitest';
import type { SkillError } from '../../src/errors.ts';
import type { ParsedManifest } from '../../src/manifest/manifest.ts';
import { parseManifest } from '../../src/manifest/parse.ts';
import type { ManifestProblem } from '../../src/manifest/problems.ts';
import { dedent } from '../write-skill.ts';

const parse = (text: string, folder?: string): ParsedManifest =>
  parseManifest(text, { file: 'manifest.yaml', ...(folder === undefined ? {} : { folder }) });

function problemsOf(text: string): ManifestProblem[] {
  try {
    parse(text);
  } catch (error) {
    expect(error).toMatchObject({ name: 'SkillError', code: 'manifest_invalid' });
    return (error as SkillError).detail['problems'] as ManifestProblem[];
  }
  throw new Error('The manifest was accepted');
}

const FULL = `
name: finance/wallet_screening
version: 1.0.0
description: Screens a wallet.
parameters: { type: object, properties: { address: { type: [string, "null"] } }, required: [address] }
outputs: { metadata: { type: object } }
requirements: [requests>=2.31]
execution: [wasm, subprocess, wasm]
entry: skill.py
env_vars:
  ETHERSCAN_API_KEY: { required: true, secret: true, hosts: [api.etherscan.io] }
capabilities:
  filesystem:
    - { path: data, access: read }
    - { path: "\${workspace}/invoices", access: read-write, max_bytes: 64MiB }
  network:
    - { host: api.etherscan.io, port: 443, scheme: https, methods: [GET], paths: ["/api*"] }
  syscalls: { deny: [ptrace] }
limits: { timeout: 30s, cpu: 5, memory: 256MiB, output: 1MiB, processes: 0, scratch: 16MiB }
container: { image: localhost/skill:1 }
`;

const SKILLWARE = `
name: creative/deck_builder
version: "0.1.0"
description: |
  Builds decks.
short_description: Builds decks
issuer: { name: Someone, email: someone@example.com, github: someone, org: "" }
parameters:
  type: object
  properties:
    spec: { type: [object, "null"] }
requirements: []
constitution: { safety: [one, two] }
outputs:
  path: { type: string, description: Where it is }
category: creative
env_vars: {}
presentation: { icon: star, color: "#fff" }
`;

describe('parsing a complete manifest', () => {
  it('returns plain data in bytes and milliseconds', () => {
    const { manifest, warnings } = parse(FULL, '/x/skills/finance/wallet_screening');
    expect(warnings).toEqual([]);
    expect(manifest).toEqual({
      name: 'finance/wallet_screening',
      version: '1.0.0',
      description: 'Screens a wallet.',
      parameters: {
        type: 'object',
        properties: { address: { type: ['string', 'null'] } },
        required: ['address'],
      },
      outputs: { metadata: { type: 'object' } },
      requirements: ['requests>=2.31'],
      execution: ['wasm', 'subprocess'],
      entry: 'skill.py',
      env: { ETHERSCAN_API_KEY: { required: true, secret: true, hosts: ['api.etherscan.io'] } },
      capabilities: {
        filesystem: [
          { path: 'data', access: 'read' },
          { path: '${workspace}/invoices', access: 'read-write', maxBytes: 67_108_864 },
        ],
        network: [
          { host: 'api.etherscan.io', port: 443, scheme: 'https', methods: ['GET'], paths: ['/api*'] },
        ],
        syscalls: { deny: ['ptrace'] },
      },
      declaresCapabilities: true,
      limits: {
        timeout: 30_000,
        cpu: 5000,
        memory: 268_435_456,
        output: 1_048_576,
        processes: 0,
        scratch: 16_777_216,
      },
      container: { image: 'localhost/skill:1' },
      extra: {},
    });
  });

  it('accepts all twelve fields of a Skillware manifest unchanged', () => {
    const { manifest, warnings } = parse(SKILLWARE, '/x/skills/creative/deck_builder');
    expect(warnings).toEqual([]);
    expect(manifest).toMatchObject({
      shortDescription: 'Builds decks',
      declaresCapabilities: false,
      env: {},
    });
    expect(manifest.extra).toEqual({
      issuer: { name: 'Someone', email: 'someone@example.com', github: 'someone', org: '' },
      constitution: { safety: ['one', 'two'] },
      category: 'creative',
      presentation: { icon: 'star', color: '#fff' },
    });
  });
});

describe('parsing a manifest of Skillware 0.6', () => {
  const NEWER = `${SKILLWARE}tier: core\nshape: workflow\ntarget: [backend]\ntags: [decks]\n`;

  it('warns of none of its keys', () => {
    expect(parse(NEWER).warnings).toEqual(parse(SKILLWARE).warnings);
  });

  it('reads outputs that are written as the schema of the whole result', () => {
    const whole = NEWER.replace(
      /outputs:\n.*\n/,
      'outputs: { type: object, properties: { path: { type: string, description: Where it is } } }\n',
    );
    expect(parse(whole).manifest.outputs).toEqual(parse(NEWER).manifest.outputs);
  });

  it('refuses such a schema if it demands what would not be checked', () => {
    const strict = NEWER.replace(
      /outputs:\n.*\n/,
      'outputs: { type: object, properties: { path: { type: string } }, required: [path] }\n',
    );
    expect(() => parse(strict)).toThrow('outputs.type');
  });
});

describe('parsing a manifest with missing keys', () => {
  it('accepts a manifest with only a name and reports its assumptions', () => {
    const { manifest, warnings } = parse('name: a/b');
    expect(manifest).toMatchObject({
      version: '0.0.0',
      parameters: { type: 'object' },
      declaresCapabilities: false,
    });
    expect(warnings).toEqual(['version: Missing; read as "0.0.0"', 'description: Missing']);
  });

  it('counts an empty capabilities key as declared', () => {
    expect(parse('name: a/b\ncapabilities:').manifest.declaresCapabilities).toBe(true);
  });

  it('treats an empty key as absent', () => {
    expect(parse('name: a/b\nrequirements:\nenv_vars:\nlimits:').manifest).toMatchObject({
      requirements: [],
      env: {},
    });
  });

  it('keeps the text of a numeric version and warns', () => {
    const { manifest, warnings } = parse('name: a/b\nversion: 1.0\ndescription: x');
    expect(manifest.version).toBe('1.0');
    expect(warnings).toEqual([expect.stringContaining('version (line 2)')]);
  });

  it.each(['skills', 'installed'])(
    'takes the category from the folder below %s, with a warning',
    (registry) => {
      const { manifest, warnings } = parse('name: b', `/home/someone/${registry}/a/b/`);
      expect(manifest.name).toBe('a/b');
      expect(warnings.filter((text) => text.startsWith('name'))).toEqual([
        'name (line 1): has no category; read as "a/b"',
      ]);
    },
  );

  it('takes no category from a folder that is not a registry', () => {
    expect(() => parse('name: b', '/home/someone/b')).toThrow('"b" is not of the form "category/name"');
    expect(() => parse('name: b', 'skills/b')).toThrow('"b" is not of the form "category/name"');
  });

  it('warns if the category of a bare name differs from that of its folder', () => {
    const { manifest, warnings } = parse('name: b\ncategory: c', 'skills/a/b');
    expect(manifest.name).toBe('c/b');
    expect(warnings).toContain('name: "c/b" differs from its folder "a/b"');
  });

  it('takes the category from its own key, with a warning', () => {
    const { manifest, warnings } = parse('name: b\ncategory: a');
    expect(manifest.name).toBe('a/b');
    expect(warnings).toContainEqual(expect.stringContaining('has no category'));
  });
});

describe('execution_mode', () => {
  const read = (rest: string): ParsedManifest => parse(`name: a/b\nversion: "1"\ndescription: x\n${rest}`);

  it('is a requirement on the mode, and no unknown key', () => {
    const { manifest, warnings } = read('execution_mode: isolated');
    expect(manifest.executionDemand).toBe('isolated');
    expect(manifest.extra).toEqual({});
    expect(warnings).toEqual([]);
    expect(read('execution_mode:').manifest.executionDemand).toBeUndefined();
  });

  it.each([
    ['execution_mode: sandboxed', 'isolated'],
    ['execution_mode: [isolated]', 'isolated'],
    ['execution_mode: true', 'isolated'],
    ['execution_mode: isolated\nexecution: in_process', 'contradicts "execution"'],
  ])('with another value is an error, not ignored: %s', (text, message) => {
    const [problem] = problemsOf(`name: a/b\n${text}`);
    expect(problem).toMatchObject({ path: 'execution_mode', message: expect.stringContaining(message) });
  });
});

describe('parsing a manifest in the folder', () => {
  it.each([
    ['/x/skills/a/b', 0],
    ['/tmp/b', 0],
    ['/x/skills/other/b', 1],
    ['/tmp/c', 1],
    ['/x/skills/a/c', 1],
  ])('%s returns %i warnings', (folder, count) => {
    const { warnings } = parse('name: a/b\nversion: "1"\ndescription: x', folder);
    expect(warnings).toHaveLength(count);
  });
});

describe('parsing an invalid manifest', () => {
  it('reports every problem at once, in order, with path and line', () => {
    const text = dedent(`
      name: A/b
      limits:
        timeout: 0s
        memroy: 1MiB
      capabilities:
        network:
          - host: HTTP://x
          - { host: a.com, prot: 1 }
        sockets: []
    `);
    expect(problemsOf(text).map(({ path, line }) => [path, line])).toEqual([
      ['name', 1],
      ['limits.timeout', 3],
      ['limits.memroy', 4],
      ['capabilities.network[0].host', 7],
      ['capabilities.network[1].prot', 8],
      ['capabilities.sockets', 9],
    ]);
  });

  it.each([
    ['version: "1"', 'name'],
    ['name: b', 'name'],
    ['name: 5', 'name'],
    ['name: a/b\nversion: [1]', 'version'],
    ['name: a/b\nexecution: docker', 'execution[0]'],
    ['name: a/b\nexecution: { a: 1 }', 'execution'],
    ['name: a/b\nentry: ../x.py', 'entry'],
    ['name: a/b\nrequirements: ["--pre"]', 'requirements[0]'],
    ['name: a/b\nparameters: [1]', 'parameters'],
    ['name: a/b\noutputs: { a: string }', 'outputs.a'],
    ['name: a/b\nenv_vars: { PATH: {} }', 'env_vars.PATH'],
    ['name: a/b\nenv_vars: { A: { secret: "yes" } }', 'env_vars.A.secret'],
    ['name: a/b\nenv_vars: { A: { secret: true } }', 'env_vars.A.hosts'],
    ['name: a/b\nenv_vars: { A: { secret: true, hosts: [] } }', 'env_vars.A.hosts'],
    ['name: a/b\nenv_vars: { A: { secret: true, hosts: ["*"] } }', 'env_vars.A.hosts[0]'],
    [
      'name: a/b\ncapabilities: { filesystem: [{ path: data, access: read-write }] }',
      'capabilities.filesystem[0].access',
    ],
    [
      'name: a/b\ncapabilities: { filesystem: [{ path: data, max_bytes: 5 }] }',
      'capabilities.filesystem[0].max_bytes',
    ],
    ['name: a/b\ncapabilities: { network: [{ host: a.com, port: 70000 }] }', 'capabilities.network[0].port'],
    [
      'name: a/b\ncapabilities: { network: [{ host: a.com, methods: [] }] }',
      'capabilities.network[0].methods',
    ],
    ['name: a/b\ncapabilities: { syscalls: lax }', 'capabilities.syscalls'],
    ['name: a/b\ncapabilities: { syscalls: { deny: [a], allow: [b] } }', 'capabilities.syscalls.allow'],
    ['name: a/b\nlimits: { processes: -1 }', 'limits.processes'],
    ['name: a/b\nlimits: { memory: .nan }', 'limits.memory'],
    ['name: a/b\ncontainer: { image: "-v/:/x" }', 'container.image'],
    ['name: a/b\ncontainer: { image: localhost/a, dockerfile: b }', 'container'],
    ['name: a/b\ncontainer: { privileged: true }', 'container.privileged'],
    ['name: a/b\n__proto__: { x: 1 }', '__proto__'],
    ['- a', '(top level)'],
    ['', '(top level)'],
    ['name: a/b\nname: a/c', '(top level)'],
    ['name: a/b\n---\nname: a/c', '(top level)'],
    ['%YAML 1.1\n---\nname: a/b', '(top level)'],
    ['name: !!python/object:os.system a/b', '(top level)'],
  ])('refuses %j with a problem at %s', (text, path) => {
    expect(problemsOf(text).map((problem) => problem.path)).toContain(path);
  });

  it('warns about unknown keys elsewhere and keeps them', () => {
    const { manifest, warnings } = parse(
      'name: a/b\nversion: "1"\ndescription: x\ninputs: { a: 1 }\nenv_vars: { A: { scope: 1 } }',
    );
    expect(manifest.extra).toEqual({ inputs: { a: 1 } });
    expect(warnings).toEqual([
      expect.stringContaining('inputs (line 4)'),
      expect.stringContaining('env_vars.A.scope'),
    ]);
  });
});

describe('parsing a hostile document', () => {
  const layers = 'bcdefghij'.split('').map((name, index) => {
    const below = `*${'abcdefghij'[index]}`;
    return `${name}: &${name} [${Array.from({ length: 9 }, () => below).join(',')}]`;
  });
  it.each([
    ['deep flow lists', '['.repeat(200_000)],
    ['deep flow maps', '{a: '.repeat(60_000)],
    ['deep block lists', '- '.repeat(120_000)],
    ['deep but parseable', `a: ${'['.repeat(100)}${']'.repeat(100)}`],
    ['a billion laughs', ['a: &a [x,x,x,x,x,x,x,x,x]', ...layers].join('\n')],
    ['a value that contains itself', 'name: a/b\nx: &a [*a, *a]'],
    ['too many bytes', `name: a/b\nx: "${'x'.repeat(300_000)}"`],
    [
      'more keys than can be compared',
      `{${Array.from({ length: 30_000 }, (_, index) => `k${index}`).join(',')}}`,
    ],
    ['too many values', `x: [${'1,'.repeat(60_000)}]`],
    ['anchors without end', '&a '.repeat(80_000)],
  ])('reports problems for %s', (_name, text) => {
    expect(problemsOf(text).length).toBeGreaterThan(0);
  });

  it('puts no control characters into messages', () => {
    const text =
      'name: a/b\nlimits: { "\\e[31mx\\u202e": 1 }\ncapabilities: { network: [{ host: "\\e[0m" }] }';
    expect(JSON.stringify(problemsOf(text))).toMatch(/^[ -~]+$/);
  });
});
