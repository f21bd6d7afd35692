/** The Helm chart, as far as it can be checked without helm; `scripts/try-chart.ts` checks the rest. */
import { Ajv } from 'ajv';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readAccessFile } from '../../src/http/access-file.ts';
import { ServiceMetrics } from '../../src/http/service-metrics.ts';
import { parsePolicy } from '../../src/index.ts';
import { ROOT } from '../../scripts/steps.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { defaultOf, optionsOf, serveDefault, serveOptions } from './serve-options.ts';

const CHART = join(ROOT, 'deploy/helm/skillcell');
const read = (file: string): string => readFileSync(join(CHART, file), 'utf8');
const values = parse(read('values.yaml')) as Record<string, unknown> & {
  policy: object;
  podSecurityContext: { runAsUser: number };
};
const check = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object);
const workload = read('templates/statefulset.yaml');
const dockerfile = readFileSync(join(ROOT, 'deploy/image/Dockerfile'), 'utf8');

describe('the values', () => {
  test('have defaults that fit their schema', () => {
    expect(check(values), JSON.stringify(check.errors)).toBe(true);
  });

  test.each(globSync('ci/*.yaml', { cwd: CHART }).toSorted())('of %s fit the schema', (file) => {
    expect(check(parse(read(file))), JSON.stringify(check.errors)).toBe(true);
  });

  test.each([
    { replica: 2 },
    { podSecurityContext: { runAsUser: 0 } },
    { podSecurityContext: { fsGroupChangePolicy: 'Always' } },
    { access: { rules: { version: 1 } } },
    { modes: { jail: true, seccompProfile: '/etc/profile.json' } },
    { serve: { env: ['A=secret'] } },
    { cluster: { url: 'nats://user:secret@nats.example.com:4222' } },
    { cluster: { url: 'http://nats.example.com' } },
    { cluster: { setup: { replicas: 2 } } },
    { workers: { pool: 'not-a-pool' } },
    { workers: { tenants: ['a.b'] } },
    { workers: { autoscaling: { waitingPerWorker: '0' } } },
  ])('%j are refused', (wrong) => {
    expect(check(wrong)).toBe(false);
  });

  test('are all used, and no others are', () => {
    const templates = globSync('templates/**/*', { cwd: CHART }).filter((file) => /\.\w+$/.test(file));
    const used = new Set(
      templates.flatMap((file) => [...read(file).matchAll(/\.Values\.(\w+)/g)].map(([, name = '']) => name)),
    );
    expect([...used].toSorted()).toEqual(Object.keys(values).toSorted());
  });

  test('have a policy that Skillcell accepts', () => {
    const policy = parsePolicy(stringify(values.policy), { file: 'policy.yaml' });
    expect(policy.minimum).toMatchObject({ external: 'wasm' });
  });

  test('of the least example have tokens that Skillcell accepts', () => {
    const folder = openFolder();
    try {
      const file = join(folder, 'access.json');
      const { access } = parse(read('ci/access.yaml')) as { access: { rules: object } };
      writeFileSync(file, JSON.stringify(access.rules));
      expect(readAccessFile(file).tokens).toHaveLength(1);
    } finally {
      removeFolder(folder);
    }
  });
});

describe('the workload', () => {
  test('starts the service with options that it has', () => {
    const flags = [...workload.matchAll(/^ +- (--[\w-]+)/gm)].map(([, flag]) => flag);
    expect(flags.length).toBeGreaterThan(5);
    expect(flags.filter((flag) => !serveOptions().includes(flag ?? ''))).toEqual([]);
  });

  test('has one port everywhere: that of the image', () => {
    const port = String(serveDefault('--port'));
    expect(workload).toContain(`--port=${port}`);
    expect(workload).toContain(`containerPort: ${port}`);
    expect(dockerfile).toContain(`EXPOSE ${port}`);
  });

  test('is probed at the routes for liveness and readiness', () => {
    const probes = [...workload.matchAll(/(\w+)Probe:\n +httpGet: \{ path: (\S+), port: http \}/g)];
    expect(probes.map(([, probe, path]) => `${probe} ${path}`)).toEqual([
      'startup /healthz',
      'liveness /healthz',
      'readiness /readyz',
    ]);
  });

  test('runs as the user of the image, and mounts the folders of the image', () => {
    expect(dockerfile).toContain(`USER ${values.podSecurityContext.runAsUser}:`);
    const home = /SKILLCELL_HOME=(\S+)\/home/.exec(dockerfile)?.[1];
    expect(workload).toContain(`{ name: home, mountPath: ${home} }`);
    const folder = /^WORKDIR (\/srv\S+)$/m.exec(dockerfile)?.[1];
    expect(workload).toContain(`mountPath: ${folder}/skills,`);
  });

  test('gets no token of the cluster', () => {
    expect(workload).toContain('automountServiceAccountToken: false');
    expect(read('templates/serviceaccount.yaml')).toContain('automountServiceAccountToken: false');
  });
});

describe('the workers', () => {
  const workers = read('templates/workers.yaml');
  const flagsIn = (text: string): string[] =>
    [...text.matchAll(/^ *- (--[\w-]+)/gm)].map(([, flag = '']) => flag);

  test.each([
    { file: 'statefulset', command: ['serve'] },
    { file: 'workers', command: ['worker'] },
    { file: 'cluster-setup', command: ['cluster', 'setup'] },
  ])('$file.yaml starts a command with options that it has', ({ file, command }) => {
    const flags = [...flagsIn(read(`templates/${file}.yaml`)), ...flagsIn(read('templates/_helpers.tpl'))];
    expect(flags).toContain('--cluster');
    expect(flags.filter((flag) => !optionsOf(...command).includes(flag))).toEqual([]);
  });

  test('keep their names, and see only their own keys', () => {
    expect(workers).toContain('kind: StatefulSet');
    expect(workers).toContain('--name=$(POD_NAME)');
    const mounts = [...read('templates/_helpers.tpl').matchAll(/\{ name: cluster-keys, .*\}/g)];
    expect(mounts.map(([mount]) => mount.includes('subPathExpr: $(POD_NAME).nk'))).toEqual([true]);
  });

  test('are scaled by metrics that the service exports', () => {
    const exported = new ServiceMetrics().format({
      ...{ running: 0, waiting: 0, quotas: [], policy: { digest: '', state: 'current', waiting: [] } },
      pools: [{ pool: 'default', waiting: 3, running: 4 }],
    });
    const names = [...workers.matchAll(/name: (skillcell_cluster_\w+)/g)].map(([, name = '']) => name);
    expect(names).toHaveLength(2);
    for (const name of names) expect(exported).toMatch(new RegExp(`^${name}\\{pool="default"\\} [34]$`, 'm'));
  });

  test('get no token of the cluster', () => {
    for (const file of ['workers', 'cluster-setup', 'nats'])
      expect(read(`templates/${file}.yaml`)).toContain('automountServiceAccountToken: false');
  });

  test('have the defaults of the command line', () => {
    const { workers: settings, cluster } = values as unknown as {
      workers: { pool: string };
      cluster: { setup: { queue: number; queueOfAll: number } };
    };
    expect(settings.pool).toBe(defaultOf('--pool', 'worker'));
    expect(String(cluster.setup.queue)).toBe(defaultOf('--queue', 'cluster', 'setup'));
    expect(cluster.setup.queueOfAll).toBe(50 * cluster.setup.queue);
  });
});

test('the chart has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
});
