import { describe, expect, test } from 'vitest';
import { findDrift } from '../../src/load/drift.ts';
import type { Drift } from '../../src/load/drift.ts';
import { NOTHING_INSPECTED } from '../../src/load/inspection.ts';
import type { Inspection } from '../../src/load/inspection.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { manifestWith } from './helpers.ts';
import { HOST_CASES } from '../policy/host-cases.ts';

type Found = Partial<Record<keyof Inspection, string[]>>;

/** Drift and warnings for these findings, each at `skill.py:1`. */
function judge(found: Found, manifest: Partial<Manifest> = {}, paths: string[] = ['skill.py']): Drift {
  const inspection = { ...NOTHING_INSPECTED };
  for (const [kind, values] of Object.entries(found)) {
    inspection[kind as keyof Inspection] = values.map((value) => ({ value, at: 'skill.py:1' }));
  }
  return findDrift({ manifest: manifestWith(manifest), inspection, paths });
}

const network = (host: string): Partial<Manifest> => ({
  capabilities: { filesystem: [], network: [{ host }], syscalls: 'default' },
});
const requests = { requirements: ['requests>=2.31', 'google-genai', 'PyYAML', 'beautifulsoup4', 'Pillow'] };

describe('network drift', () => {
  test.each([
    'socket',
    'urllib.request',
    'urllib.request.urlopen',
    'http.client',
    'requests.adapters',
    'google.genai',
  ])('importing %s without a network rule is drift', (module) => {
    const { drift } = judge({ modules: [module] }, requests);
    expect(drift).toEqual([
      `The code imports "${module}" (skill.py:1), but the manifest declares no network.`,
    ]);
    expect(judge({ modules: [module] }, { ...requests, ...network('x.io') }).drift).toEqual([]);
  });

  test.each([
    'json',
    'urllib.parse',
    'http',
    'http.HTTPStatus',
    'sockets_like',
    'asyncio',
    'ssl',
    'google.protobuf',
  ])('importing %s is not drift', (module) => expect(judge({ modules: [module] }).drift).toEqual([]));

  test('importing a module of the bundle is not drift, unless the standard library takes precedence', () => {
    expect(judge({ modules: ['dns'] }, {}, ['skill.py', 'dns.py']).drift).toEqual([]);
    expect(judge({ modules: ['dns'] }, {}, ['skill.py', 'data/dns.py']).drift).toHaveLength(1);
    expect(judge({ modules: ['socket'] }, {}, ['skill.py', 'socket.py']).drift).toHaveLength(1);
  });

  test('a module is reported once, however often it is imported', () => {
    expect(judge({ modules: ['socket', 'socket'] }).drift).toHaveLength(1);
  });

  test.each(HOST_CASES)('the rule %s covers the host %s: %s', (rule, host, covered) => {
    const { drift, warnings } = judge({ hosts: [host] }, network(rule));
    expect(drift).toEqual([]);
    expect(warnings).toHaveLength(covered ? 0 : 1);
  });
});

describe('environment drift', () => {
  test('reading an undeclared name is drift', () => {
    expect(judge({ env: ['API_KEY'] }).drift).toEqual([
      'The code reads the variable "API_KEY" (skill.py:1), which "env_vars" does not declare.',
    ]);
  });

  test('reading a declared or harmless name is not drift', () => {
    const env = { API_KEY: { required: true, secret: true, hosts: [] } };
    expect(judge({ env: ['API_KEY', 'HOME', 'TZ', 'https_proxy'] }, { env }).drift).toEqual([]);
  });

  test('a secret for a host that no rule covers is reported as a warning', () => {
    const env = { API_KEY: { required: true, secret: true, hosts: ['api.test', 'x.sub.test'] } };
    expect(judge({}, { env, ...network('*.sub.test') }).warnings).toEqual([
      'The secret "API_KEY" is for "api.test", which no network rule covers.',
    ]);
  });

  test('names of object properties do not count as declared', () => {
    expect(judge({ env: ['constructor', 'toString'] }).drift).toHaveLength(2);
  });
});

describe('process drift', () => {
  test.each(['subprocess', 'multiprocessing.Pool', 'os.system', 'pty'])(
    '%s without a process limit is reported as a warning',
    (module) => {
      expect(judge({ modules: [module] })).toMatchObject({
        drift: [],
        warnings: [expect.stringContaining(module)],
      });
      expect(judge({ modules: [module] }, { limits: { processes: 1 } }).warnings).toEqual([]);
    },
  );
});

describe('requirement drift', () => {
  test.each([
    'json',
    'yaml',
    'bs4',
    'PIL.Image',
    'requests',
    'google.genai.types',
    'utils',
    'helpers',
    'skillware.core',
  ])('%s has a known source', (module) => {
    const { warnings } = judge({ modules: [module] }, requests, ['skill.py', 'utils.py', 'lib/helpers/a.py']);
    expect(warnings).toEqual([]);
  });

  test('a module without a known source is a warning, not drift', () => {
    expect(judge({ modules: ['numpy.linalg'] }, requests)).toEqual({
      drift: [],
      warnings: ['The code imports "numpy" (skill.py:1), which "requirements" does not seem to provide.'],
    });
  });
});

test('source code that cannot be parsed is drift', () => {
  expect(judge({ unparsed: ['invalid syntax'] }).drift).toEqual([
    'The source at "skill.py:1" cannot be parsed: "invalid syntax".',
  ]);
});

test('a legacy manifest gets warnings only', () => {
  const found = { modules: ['socket'], env: ['KEY'], unparsed: ['invalid syntax'], hosts: ['x.io'] };
  const { drift, warnings } = judge(found, { declaresCapabilities: false });
  expect(drift).toEqual([]);
  expect(warnings).toHaveLength(4);
});

test('text from the source cannot send control characters to a terminal', () => {
  const { warnings } = judge({ hosts: ['\u001b[2J\n'] });
  expect(warnings[0]).toMatch(/^[ -~]+$/);
});
