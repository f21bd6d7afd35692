import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FilesystemRule, Manifest } from '../../src/manifest/manifest.ts';
import type { CapabilityEvent } from '../../src/outcome.ts';
import { leastFor, type AllowedRules, type Least } from '../../src/record/least.ts';
import { readEvents } from '../../src/record/observed.ts';
import { manifestWith } from '../load/helpers.ts';

type Declared = Partial<Manifest> & Partial<Manifest['capabilities']>;

const EVERYTHING: AllowedRules = {
  filesystem: ['${workspace}', '/data', '/data2'].map((path) => ({ path, access: 'read-write' })),
  env: Object.fromEntries(
    ['REGION', 'API_KEY', 'SERVICE_TOKEN'].map((name) => [
      name,
      { required: true, secret: false, hosts: [] },
    ]),
  ),
  processes: 8,
};

interface Run {
  succeeded?: boolean;
  allowed?: Partial<AllowedRules>;
}

/** A denied event has a minus in front: `-network GET …`. */
function least(
  events: string[],
  declared: Declared = {},
  { succeeded = true, allowed = {} }: Run = {},
): Least {
  const event = (text: string): CapabilityEvent => {
    const [, capability = '', asked = ''] = /^-?(\w+) (.*)$/.exec(text) ?? [];
    return { capability: capability as CapabilityEvent['capability'], asked, declared: '' };
  };
  const used = events.filter((text) => !text.startsWith('-')).map(event);
  const denied = events.filter((text) => text.startsWith('-')).map(event);
  const { filesystem = [], network = [], ...rest } = declared;
  const capabilities = { filesystem, network, syscalls: 'default' as const };
  return leastFor(manifestWith({ ...rest, capabilities }), readEvents(used, denied), {
    succeeded,
    allowed: { ...EVERYTHING, ...allowed },
  });
}

describe('the proposed network rules', () => {
  const rules = (events: string[], declared: Declared = {}): unknown[] =>
    least(events, declared).network.map(({ rule }) => rule);

  test('leave out a path with "*", which would allow more, unless a declared rule has it', () => {
    const events = ['network GET https://a.test/x', '-network GET https://a.test/a*b'];
    expect(rules(events)).toMatchObject([{ paths: ['/x'] }]);
    expect(rules(events.slice(1))).toEqual([]);
    expect(least(events).remarks.join()).toContain('https://a.test/a*b');
    const network = [{ host: 'a.test', scheme: 'https' as const, paths: ['/a*'] }];
    expect(rules(events.slice(1), { network })).toMatchObject([{ paths: ['/a*'] }]);
    expect(least(events.slice(1), { network }).remarks.join()).not.toContain('a*b');
  });

  test('have one rule per host, port and scheme, with its methods and paths', () => {
    expect(
      rules([
        'network GET https://api.test/v1/a',
        'network POST https://api.test/v1/b',
        'network GET http://api.test:8080/',
        'network GET https://[2001:db8::1]/',
      ]),
    ).toEqual([
      { host: 'api.test', scheme: 'https', methods: ['GET', 'POST'], paths: ['/v1/a', '/v1/b'] },
      { host: 'api.test', port: 8080, scheme: 'http', methods: ['GET'], paths: ['/'] },
      { host: '2001:db8::1', scheme: 'https', methods: ['GET'], paths: ['/'] },
    ]);
  });

  test('replace variable parts of a path by a pattern', () => {
    const paths = [
      '/users/42/posts',
      '/o/3f0c1a4e-0000-4000-8000-123456789abc',
      '/sha/0123456789abcdef0123',
      '/botA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6/send',
    ];
    expect(rules(paths.map((path) => `network GET https://a.test${path}`))).toMatchObject([
      { paths: ['/*/send', '/o/*', '/sha/*', '/users/*/posts'] },
    ]);
  });

  test('replace very many paths by their folder', () => {
    const events = Array.from(
      { length: 20 },
      (_, at) => `network GET https://a.test/v1/things/name-${'x'.repeat(at)}`,
    );
    expect(rules(events)).toMatchObject([{ paths: ['/v1/things/*'] }]);
  });

  test('have no methods and paths for a tunnel, which does not show them', () => {
    expect(rules(['network CONNECT https://a.test', 'network GET https://a.test/x'])).toEqual([
      { host: 'a.test', scheme: 'https' },
    ]);
  });

  test('have the host and port of a socket', () => {
    expect(
      rules(['-network resolve a.test:443', '-network connect 192.0.2.7:80', '-network resolve b.test']),
    ).toEqual([
      { host: 'a.test', scheme: 'https' },
      { host: '192.0.2.7', scheme: 'http' },
      { host: 'b.test', scheme: 'https' },
    ]);
  });

  test('keep a declared rule as far as it was needed', () => {
    const network = [
      { host: '*.a.test', methods: ['GET', 'PUT'], paths: ['/api/*', '/old/*'] },
      { host: 'b.test' },
    ];
    expect(rules(['network GET https://x.a.test/api/1/2'], { network })).toEqual([
      { host: '*.a.test', methods: ['GET'], paths: ['/api/*'] },
    ]);
    expect(least(['network GET https://x.a.test/api/1'], { network }).unused).toEqual([
      'network https://b.test',
    ]);
  });

  test('leave out what no manifest can ask for, with a remark', () => {
    const { network, remarks } = least(['-network listen on 0.0.0.0:80', '-network GET https://a_b.test/']);
    expect(network).toEqual([]);
    expect(remarks[0]).toContain('listen on 0.0.0.0:80');
  });

  test('point out that methods inside TLS need the operator in a native mode', () => {
    const events = ['network GET https://a.test/'];
    expect(least(events).remarks.join()).toContain('inspect_tls');
    expect(least(events, { execution: ['wasm'] }).remarks).toEqual([]);
  });
});

describe('the proposed file rules', () => {
  const rules = (events: string[], declared: Declared = {}): string[] =>
    least(events, declared).filesystem.map(({ rule }) => `${rule.access} ${rule.path}`);

  test('name one file that was read, or the folder of several', () => {
    expect(rules(['filesystem read /workspace/a.txt'])).toEqual(['read ${workspace}/a.txt']);
    expect(rules(['filesystem read /workspace/in/a', 'filesystem read /workspace/in/b'])).toEqual([
      'read ${workspace}/in',
    ]);
  });

  test('name the folder of a file that was written', () => {
    expect(rules(['filesystem write /workspace/out/a', 'filesystem read /workspace/out/b'])).toEqual([
      'read-write ${workspace}/out',
    ]);
    expect(rules(['filesystem write /data/a'])).toEqual(['read-write /data']);
  });

  test('leave out the private paths of a cell', () => {
    expect(
      rules(['filesystem read /etc/hosts', 'filesystem read /skill/x', 'filesystem write /tmp/x']),
    ).toEqual([]);
  });

  test('keep a declared rule with no more access than was needed', () => {
    const filesystem = [
      { path: 'data', access: 'read' as const },
      { path: '${workspace}/in', access: 'read-write' as const, maxBytes: 100 },
      { path: '${workspace}/unused', access: 'read' as const },
      { path: '${workspace}/one.txt', access: 'read-write' as const },
    ];
    const events = ['filesystem read /workspace/in/deep/a', 'filesystem write /workspace/one.txt'];
    expect(rules(events, { filesystem })).toEqual([
      'read data',
      'read ${workspace}/in',
      'read-write ${workspace}/one.txt',
    ]);
    expect(least(events, { filesystem }).unused).toEqual(['filesystem read ${workspace}/unused']);
  });

  test('mark what was denied', () => {
    expect(least(['-filesystem read /data/x', 'filesystem read /data2/y']).filesystem).toEqual([
      { rule: { path: '/data/x', access: 'read' }, denied: true },
      { rule: { path: '/data2/y', access: 'read' }, denied: false },
    ]);
  });
});

describe('a proposal for allowed acts', () => {
  const out: FilesystemRule[] = [{ path: '${workspace}/out', access: 'read-write' }];
  const rules = (events: string[], declared: Declared = {}, allowed = out): string[] =>
    least(events, declared, { allowed: { filesystem: allowed } }).filesystem.map(
      ({ rule, denied }) => `${rule.access} ${rule.path}${denied ? ' denied' : ''}`,
    );

  test('does not mistake a folder that was written for a file in the folder above', () => {
    expect(rules(['filesystem write /workspace/out'])).toEqual(['read-write ${workspace}/out']);
    expect(rules(['filesystem write /workspace/out', 'filesystem write /workspace/out/a'])).toEqual([
      'read-write ${workspace}/out',
    ]);
  });

  test('does not replace individually allowed files by their folder', () => {
    const files = ['a', 'b'].map((name) => ({ path: `\${workspace}/${name}`, access: 'read' as const }));
    expect(rules(['filesystem read /workspace/a', 'filesystem read /workspace/b'], {}, files)).toEqual([
      'read ${workspace}/a',
      'read ${workspace}/b',
    ]);
  });

  test('narrows a wider declared rule to what was used, with its quota', () => {
    const filesystem = [{ path: '${workspace}', access: 'read-write' as const, maxBytes: 100 }];
    const { filesystem: found } = least(
      ['filesystem write /workspace/out/a'],
      { filesystem },
      { allowed: { filesystem: out } },
    );
    expect(found).toEqual([
      { rule: { path: '${workspace}/out', access: 'read-write', maxBytes: 100 }, denied: false },
    ]);
  });

  test('names a denied act exactly, and keeps it marked beside a use', () => {
    expect(
      rules(['-filesystem write /workspace/x', '-filesystem read /data/a', '-filesystem read /data/b']),
    ).toEqual(['read-write ${workspace}/x denied', 'read /data/a denied', 'read /data/b denied']);
    expect(
      rules(['filesystem read /workspace/out/a', '-filesystem write /workspace/out'], {}, [
        { path: '${workspace}/out', access: 'read' },
      ]),
    ).toEqual(['read-write ${workspace}/out denied', 'read ${workspace}/out/a']);
  });

  test('has no more processes than were allowed', () => {
    const processes = (declared: number, allowed: number): number | undefined =>
      least(['process start ls'], { limits: { processes: declared } }, { allowed: { processes: allowed } })
        .processes;
    expect([processes(0, 2), processes(16, 2), processes(1, 2)]).toEqual([2, 2, 1]);
  });

  test('does not list a variable that was allowed as a secret as a plain one', () => {
    const secret = { API_KEY: { required: true, secret: true, hosts: [] } };
    const plain = { API_KEY: { required: true, secret: false, hosts: [] } };
    const of = (events: string[]): Least => least(events, { env: plain }, { allowed: { env: secret } });
    expect(of(['env read API_KEY', 'secret send API_KEY to a.test']).env).toMatchObject({
      API_KEY: { rule: { secret: true, hosts: ['a.test'] } },
    });
    const unsent = of(['env read API_KEY']);
    expect(unsent.env).toEqual({});
    expect(unsent.remarks.join()).toContain('was not sent to any host');
  });

  const folder = fc.constantFrom(
    '/workspace',
    '/workspace/in',
    '/workspace/out',
    '/workspace/out/deep',
    '/data',
    '/data/x',
  );
  const file = fc.tuple(folder, fc.constantFrom('', '/a', '/b', '/c/d')).map(([dir, name]) => dir + name);
  const access = fc.constantFrom('read' as const, 'read-write' as const);
  const asDeclared = (path: string): string => path.replace(/^\/workspace/, '${workspace}');
  const ruleList = fc.uniqueArray(fc.record({ path: file.map(asDeclared), access }), {
    maxLength: 4,
    selector: ({ path }) => path,
  });
  const covered = (rule: FilesystemRule, by: readonly FilesystemRule[]): boolean =>
    by.some(
      (bound) =>
        (rule.path === bound.path || rule.path.startsWith(`${bound.path}/`)) &&
        (bound.access === 'read-write' || rule.access === 'read'),
    );

  test('is never wider than what was allowed, and lists a denied act as it was asked for', () => {
    const acts = fc.array(fc.record({ path: file, access }), { maxLength: 8 });
    fc.assert(
      fc.property(ruleList, ruleList, acts, (allowed, filesystem, tried) => {
        // The same decision as the wall's: which acts are uses and which are denials.
        const events = tried.map(({ path, access: wanted }) => {
          const used = covered({ path: asDeclared(path), access: wanted }, allowed);
          return `${used ? '' : '-'}filesystem ${wanted === 'read' ? 'read' : 'write'} ${path}`;
        });
        const asked = tried.map((act) => ({ path: asDeclared(act.path), access: act.access }));
        for (const { rule, denied } of least(events, { filesystem }, { allowed: { filesystem: allowed } })
          .filesystem)
          expect(
            covered(rule, denied ? [...asked, ...filesystem] : allowed),
            JSON.stringify({ rule, events }),
          ).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('variables that no manifest can name are left out', () => {
  const { env } = least(['-env read __proto__', '-env read constructor'], {}, { succeeded: false });
  expect(Object.keys(env)).toEqual(['constructor']);
});

describe('the proposed variables', () => {
  const rule = (required: boolean, hosts: string[] = []): object => ({
    required,
    secret: hosts.length > 0,
    hosts,
  });

  test('include each variable that was read as required', () => {
    expect(least(['env read REGION']).env).toEqual({ REGION: { rule: rule(true), denied: false } });
  });

  test('include a denied one as required if the call failed', () => {
    expect(least(['-env read REGION'], {}, { succeeded: true }).env).toMatchObject({
      REGION: { rule: { required: false } },
    });
    expect(least(['-env read REGION'], {}, { succeeded: false }).env).toMatchObject({
      REGION: { rule: { required: true } },
    });
  });

  test('leave out names that every program reads', () => {
    expect(least(['-env read TZ', '-env read PATH', '-env read PYTHONPATH']).env).toEqual({});
  });

  test('bind a secret to the hosts that it was sent to', () => {
    const events = ['env read API_KEY', 'secret send API_KEY to b.test', 'secret send API_KEY to a.test'];
    expect(least(events).env).toEqual({ API_KEY: { rule: rule(true, ['a.test', 'b.test']), denied: false } });
  });

  test('keep the hosts of a declared secret that it was sent to', () => {
    const env = {
      API_KEY: { required: false, secret: true, hosts: ['*.a.test', 'b.test'], description: 'mine' },
    };
    expect(
      least(['secret send API_KEY to x.a.test', 'secret send API_KEY to c.test'], { env }).env,
    ).toMatchObject({
      API_KEY: { rule: { required: false, hosts: ['*.a.test', 'c.test'], description: 'mine' } },
    });
    expect(least(['env read API_KEY'], { env }).env).toMatchObject({ API_KEY: { rule: env.API_KEY } });
    expect(least([], { env }).unused).toEqual(['env API_KEY']);
  });

  test('treat a name that looks like a secret as one, with a remark', () => {
    const { env, remarks } = least(
      ['-env read SERVICE_TOKEN', 'network GET http://a.test/'],
      {},
      { succeeded: false },
    );
    expect(env).toEqual({ SERVICE_TOKEN: { rule: rule(true, ['a.test']), denied: true } });
    expect(remarks.join()).toContain('--allow-secret SERVICE_TOKEN');
    const blind = least(['env read SERVICE_TOKEN', 'network CONNECT https://a.test']);
    expect(blind.remarks.join()).toContain('inspect_tls');
    const alone = least(['-env read SERVICE_TOKEN'], {}, { succeeded: false });
    expect(alone.env).toEqual({ SERVICE_TOKEN: { rule: rule(true), denied: true } });
    expect(alone.remarks.join()).toContain('SERVICE_TOKEN looks like a secret');
  });
});

test('the proposed process count is the declared or the allowed one', () => {
  expect(least(['process start ls']).processes).toBe(8);
  expect(least(['-process start ls'], { limits: { processes: 3 } }).processes).toBe(3);
  expect(least([], { limits: { processes: 3 } })).toMatchObject({ unused: ['limits.processes'] });
  expect(least([], { limits: { processes: 3 } }).processes).toBeUndefined();
});

test('a failed call is marked as incomplete', () => {
  expect(least([], {}, { succeeded: false }).remarks.join()).toContain('The call failed, so');
});

test('modules of the standard library are not reported', () => {
  const used = ['numpy', 'json', '_ssl', 'numpy', 'requests'].map((name) => ({
    capability: 'module' as const,
    asked: `import ${name}`,
    declared: '',
  }));
  expect(readEvents(used, []).modules).toEqual(['numpy', 'requests']);
});
