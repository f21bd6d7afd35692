/**
 * Checks the Helm chart with helm itself and its manifests with the schemas of Kubernetes:
 *
 *     node scripts/with-node.js scripts/try-chart.ts [--helm PATH] [--validator PATH]
 *
 * Without a path, it builds helm with Go and installs `kubernetes-validate` with pip, into a temporary folder. Run by hand.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { parsePolicy } from '../src/policy/operator.ts';
import { ROOT, runProgram } from './steps.ts';

const CHART = join(ROOT, 'deploy/helm/skillcell');
const HELM_MODULE = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const VALIDATOR_PACKAGE = 'kubernetes-validate==1.37.0';
const KUBERNETES = ['1.30', '1.33', '1.37'];

/** Values that the chart must refuse, with a part of what it says. */
const REFUSED: readonly { title: string; args: readonly string[]; message: RegExp }[] = [
  { title: 'no token', args: [], message: /No token is configured/ },
  { title: 'an unknown value', args: ['--set', 'replica=2'], message: /replica/ },
  {
    title: 'a token that is no digest',
    args: ['--set', 'access.rules.tokens[0].sha256=x'],
    message: /sha256/,
  },
  {
    title: 'a cluster without servers',
    args: [
      '--set',
      'access.existingSecret=x,cluster.enabled=true,cluster.keySecret=x,networkPolicy.enabled=false',
    ],
    message: /cluster\.url or nats\.enabled/,
  },
  {
    title: 'servers that no pod may reach',
    args: [
      '--set',
      'access.existingSecret=x,cluster.enabled=true,cluster.keySecret=x,cluster.url=nats://a:4222',
    ],
    message: /networkPolicy\.egress/,
  },
  {
    title: 'a cluster without keys',
    args: ['--set', 'access.existingSecret=x,cluster.enabled=true,nats.enabled=true,nats.configSecret=x'],
    message: /cluster\.keySecret/,
  },
  {
    title: 'credentials in the address of servers',
    args: [
      '--set',
      'access.existingSecret=x,cluster.enabled=true,cluster.keySecret=x,cluster.url=nats://a:b@c:4222',
    ],
    message: /cluster/,
  },
  {
    title: 'a user who is root',
    args: ['--set', 'access.existingSecret=x,podSecurityContext.runAsUser=0'],
    message: /runAsUser/,
  },
];

interface Tools {
  helm: string;
  validator: string;
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
}

function toolsIn(folder: string, given: { helm?: string; validator?: string }): Tools {
  const helm = given.helm ?? join(folder, 'helm');
  if (given.helm === undefined)
    runProgram('go', ['install', HELM_MODULE], { env: { ...process.env, GOBIN: folder } });
  const venv = join(folder, 'venv');
  if (given.validator === undefined) {
    runProgram('python3', ['-m', 'venv', venv]);
    runProgram(join(venv, 'bin/pip'), ['install', '--quiet', VALIDATOR_PACKAGE]);
  }
  return { helm, validator: given.validator ?? join(venv, 'bin/kubernetes-validate') };
}

function run(program: string, args: readonly string[]): { passed: boolean; stdout: string; output: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  return { passed: status === 0, stdout, output: `${stdout}${stderr}${error?.message ?? ''}` };
}

function report(title: string, problem: string | undefined): boolean {
  console.log(`${problem === undefined ? 'ok    ' : 'FAILED'} ${title}`);
  if (problem !== undefined) console.log(problem.trim().replaceAll(/^/gm, '       '));
  return problem === undefined;
}

function renders({ helm, validator }: Tools, values: string, folder: string): boolean[] {
  const name = basename(values);
  const linted = run(helm, ['lint', '--strict', '--values', values, CHART]);
  const results = [report(`lint with ${name}`, linted.passed ? undefined : linted.output)];
  for (const version of KUBERNETES) {
    const rendered = run(helm, [
      'template',
      'try',
      CHART,
      '--values',
      values,
      '--kube-version',
      `${version}.0`,
    ]);
    const file = join(folder, `${version}-${name}`);
    writeFileSync(file, rendered.stdout);
    const checked = rendered.passed ? run(validator, ['-k', version, '--strict', file]) : rendered;
    results.push(
      report(`render with ${name} for Kubernetes ${version}`, checked.passed ? undefined : checked.output),
    );
    results.push(report(`read the policy of ${name}`, policyProblem(rendered.stdout)));
  }
  return results;
}

/** What Skillcell would say about the rendered policy. */
function policyProblem(text: string): string | undefined {
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
  const policy = manifests.find((one) => one?.kind === 'ConfigMap')?.data?.['policy.yaml'];
  if (policy === undefined) return 'There is no policy';
  try {
    parsePolicy(policy, { file: 'policy.yaml' });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function refuses({ helm }: Tools, { title, args, message }: (typeof REFUSED)[number]): boolean {
  const ended = run(helm, ['template', 'try', CHART, '--kube-version', '1.33.0', ...args]);
  const fits = !ended.passed && message.test(ended.output);
  return report(`refuse ${title}`, fits ? undefined : ended.output);
}

function main(): boolean {
  const { values } = parseArgs({ options: { helm: { type: 'string' }, validator: { type: 'string' } } });
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-chart-'));
  try {
    const tools = toolsIn(folder, values);
    const files = globSync('ci/*.yaml', { cwd: CHART }).toSorted();
    const rendered = files.flatMap((file) => renders(tools, join(CHART, file), folder));
    const refused = REFUSED.map((row) => refuses(tools, row));
    return [...rendered, ...refused].every(Boolean) && files.length > 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = main() ? 0 : 1;
