/**
 * The script of the GitHub Action, run as the action runs it, on a repository with a base and a head commit.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createRuntime } from '../../src/index.ts';
import { ROOT } from '../../scripts/steps.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

const RULE_PLACES = { base: 'skills/text', script: 'deploy/action/main.ts' } as const;
const SHOUT = `
  def execute(params):
      return {"text": params["text"].upper()}
`;
const CASES = JSON.stringify([{ name: 'shouts', params: { text: 'a' }, result: { text: 'A' } }]);
const PARAMETERS = { type: 'object', properties: { text: { type: 'string' } } };

interface SarifResult {
  ruleId: string;
  ruleIndex: number;
  level: string;
  message: { text: string };
  locations: {
    physicalLocation: {
      artifactLocation: { uri: string; uriBaseId: string };
      region: { startLine: number };
    };
  }[];
  partialFingerprints: Record<string, string>;
}

interface Checked {
  status: number | null;
  stdout: string;
  stderr: string;
  report: string;
  summary: string;
  outputs: string;
  sarif: {
    version: string;
    runs: { tool: { driver: { name: string; rules: { id: string }[] } }; results: SarifResult[] }[];
  };
}

const folder = openFolder();
const repository = join(folder, 'repository');
afterAll(() => removeFolder(folder));

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid'];
  const ended = spawnSync('git', ['-C', repository, ...identity, ...args], { encoding: 'utf8' });
  expect(ended.status, ended.stderr).toBe(0);
  return ended.stdout.trim();
}

async function lock(...names: string[]): Promise<void> {
  await using runtime = createRuntime({ home: join(folder, 'home'), cwd: repository });
  for (const name of names) await runtime.lock(join(repository, 'skills', name));
}

function commit(): string {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A commit');
  return git('rev-parse', 'HEAD');
}

function shout(id: string, manifest: Record<string, unknown> = {}, source: string = SHOUT): void {
  writeSkill(repository, {
    id,
    manifest: { parameters: PARAMETERS, ...manifest },
    source,
    files: { 'cases.json': CASES },
  });
}

let runs = 0;

function check(base: string, env: Record<string, string> = {}): Checked {
  const output = join(folder, `output-${++runs}`);
  mkdirSync(output);
  const [summary, outputs] = [join(output, 'summary'), join(output, 'outputs')];
  const script = join(ROOT, RULE_PLACES.script);
  const ended = spawnSync(process.execPath, [script], {
    encoding: 'utf8',
    env: {
      ...process.env,
      SKILLCELL_HOME: join(folder, 'home'),
      GITHUB_WORKSPACE: repository,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_OUTPUT: outputs,
      SKILLCELL_BASE: base,
      SKILLCELL_OUTPUT: output,
      ...env,
    },
  });
  const read = (file: string): string => readFileSync(file, 'utf8');
  return {
    status: ended.status,
    stdout: ended.stdout,
    stderr: ended.stderr,
    report: read(join(output, 'report.md')),
    summary: read(summary),
    outputs: read(outputs),
    sarif: JSON.parse(read(join(output, 'report.sarif'))) as Checked['sarif'],
  };
}

function resultsOf({ sarif }: Checked): SarifResult[] {
  return sarif.runs.flatMap(({ results }) => results);
}

/** `rule level file:line` of every result. */
function linesOf(checked: Checked): string[] {
  return resultsOf(checked).map(({ ruleId, level, locations }) => {
    const [place] = locations;
    const { artifactLocation, region } = place?.physicalLocation ?? {};
    return `${ruleId} ${level} ${artifactLocation?.uri}:${region?.startLine}`;
  });
}

beforeAll(() => {
  mkdirSync(repository);
  git('init', '--quiet', '--initial-branch', 'main');
});

describe('a repository whose skills are in order', () => {
  let base = '';

  beforeAll(async () => {
    shout('text/calm');
    shout('text/grows');
    shout('text/leaves');
    await lock('text/calm', 'text/grows', 'text/leaves');
    base = commit();
    rmSync(join(repository, 'skills/text/leaves'), { recursive: true });
    shout('text/grows', {
      capabilities: {
        network: [{ host: 'api.example.com' }],
        filesystem: [{ path: '/srv/`<b>|@team', access: 'read' }],
      },
    });
    shout('text/comes');
    await lock('text/grows', 'text/comes');
    commit();
  });

  test('passes, and the report shows what each skill requests more than before', () => {
    const checked = check(base);
    expect(checked, checked.stdout + checked.stderr).toMatchObject({ status: 0 });
    expect(checked.report).toContain('## Skillcell: 4 skills checked, no errors');
    expect(checked.report).toContain('| `skills/text/calm` | unchanged | current | 1 of 1 | the same | – |');
    expect(checked.report).toContain('| `skills/text/grows` | changed | current | 1 of 1 | +2 −0 | – |');
    expect(checked.report).toContain('| `skills/text/comes` | new | current | 1 of 1 | the same | – |');
    expect(checked.report).toContain('| `skills/text/leaves` | removed | – | – | – | – |');
    expect(checked.report).toContain('+ network api.example.com');
    expect(checked.report).toContain('`high: It can send what it is given to "https://api.example.com"');
    expect(checked.summary).toBe(checked.report);
    expect(checked.outputs).toContain('capabilities-changed=true\n');
    expect(linesOf(checked)).toEqual([
      'capability-added note skills/text/grows/manifest.yaml:1',
      'capability-added note skills/text/grows/manifest.yaml:1',
    ]);
  });

  test('keeps what authors wrote inside code, so that it is no markup and mentions nobody', () => {
    const { report } = check(base, { SKILLCELL_RUN_TESTS: 'false' });
    expect(report).toContain('@team');
    const prose = report.replaceAll(/^```.*?^```$/gms, '').replaceAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
    expect(prose).not.toContain('@team');
    expect(prose).not.toContain('<b>');
  });

  test('compares with nothing if there is no base, as on the first push of a branch', () => {
    const checked = check('0'.repeat(40), { SKILLCELL_PATH: 'skills/text/calm' });
    expect(checked.status, checked.stdout + checked.stderr).toBe(0);
    expect(checked.report).toContain('| `skills/text/calm` | not compared | current | 1 of 1 | – | – |');
    expect(checked.outputs).toContain('capabilities-changed=false\n');
  });

  test('says how to get a base that the clone lacks', () => {
    const script = join(ROOT, RULE_PLACES.script);
    const env = { ...process.env, GITHUB_WORKSPACE: repository, SKILLCELL_BASE: 'f'.repeat(40) };
    const ended = spawnSync(process.execPath, [script], { encoding: 'utf8', env });
    expect(ended).toMatchObject({ status: 2, stderr: expect.stringContaining('fetch-depth: 0') });
  });
});

describe('a repository whose skills have problems', () => {
  let checked: Checked;

  beforeAll(async () => {
    const base = git('rev-parse', 'HEAD');
    shout('bad/stale');
    shout('bad/fails', {}, SHOUT.replace('upper', 'lower'));
    await lock('bad/stale', 'bad/fails');
    shout('bad/stale', { capabilities: { network: [{ host: 'new.example.com' }] } });
    shout('bad/unlocked');
    shout('bad/drift', {}, `import urllib.request\n${SHOUT.replaceAll(/^ {2}/gm, '')}`);
    writeSkill(repository, { id: 'bad/manifest', source: SHOUT });
    const text =
      'name: bad/manifest\nversion: 1.0.0\ndescription: x\nexecution: [subprocess]\nlimits:\n  memory: much\n';
    writeFileSync(join(repository, 'skills/bad/manifest/manifest.yaml'), text);
    commit();
    checked = check(base, { SKILLCELL_PATH: 'skills/bad' });
  });

  test('fails, with a place for every problem', () => {
    expect(checked.status, checked.stdout + checked.stderr).toBe(1);
    expect(linesOf(checked)).toEqual(
      expect.arrayContaining([
        'code-drift error skills/bad/drift/skill.py:1',
        'case-failed error skills/bad/fails/cases.json:1',
        'manifest-invalid error skills/bad/manifest/manifest.yaml:6',
        'lock-stale error skills/bad/stale/manifest.yaml:1',
        'lock-missing error skills/bad/unlocked/manifest.yaml:1',
      ]),
    );
  });

  test('shows the new capabilities of a skill even if its lock is stale', () => {
    expect(checked.report).toContain('| `skills/bad/stale` | new | stale |');
    expect(checked.report).toContain('+ network new.example.com');
    expect(checked.report).toContain('skillcell lock skills/bad/stale');
  });

  test('annotates the files', () => {
    expect(checked.stdout).toContain(
      '::error file=skills/bad/manifest/manifest.yaml,line=6,title=The manifest is invalid::',
    );
  });

  test('accepts skills without a lock if the workflow says so', () => {
    const env = { SKILLCELL_PATH: 'skills/bad/unlocked', SKILLCELL_REQUIRE_LOCK: 'false' };
    expect(check('', env)).toMatchObject({ status: 0, report: expect.stringContaining('| missing |') });
  });

  test('writes SARIF that code scanning accepts', () => {
    const { version, runs: all } = checked.sarif;
    expect(version).toBe('2.1.0');
    expect(all).toHaveLength(1);
    const rules = all[0]?.tool.driver.rules.map(({ id }) => id) ?? [];
    expect(new Set(rules).size).toBe(rules.length);
    const results = resultsOf(checked);
    expect(results.length).toBeGreaterThan(4);
    for (const { ruleId, ruleIndex, level, message, locations, partialFingerprints } of results) {
      expect(rules[ruleIndex]).toBe(ruleId);
      expect(['error', 'warning', 'note']).toContain(level);
      expect(message.text).not.toBe('');
      const { artifactLocation, region } = locations[0]?.physicalLocation ?? {};
      expect(artifactLocation?.uri).toMatch(/^skills\/bad\//);
      expect(region?.startLine).toBeGreaterThan(0);
      expect(Object.values(partialFingerprints)[0]).toMatch(/^[0-9a-f]{64}$/);
    }
    const prints = results.map(({ partialFingerprints }) => partialFingerprints['skillcell/v1']);
    expect(new Set(prints).size).toBe(prints.length);
  });
});

describe('action.yml', () => {
  const action = parse(readFileSync(join(ROOT, 'deploy/action/action.yml'), 'utf8')) as {
    inputs: Record<string, unknown>;
    outputs: Record<string, { value: string }>;
    runs: { steps: { id?: string; run?: string; env?: Record<string, string> }[] };
  };
  const main = readFileSync(join(ROOT, RULE_PLACES.script), 'utf8');

  test('hands every input to the script, as a variable that the script reads', () => {
    const env = action.runs.steps.find(({ id }) => id === 'check')?.env ?? {};
    const given = Object.keys(action.inputs).map((name) => '${{ inputs.' + name + ' }}');
    expect(Object.values(env).toSorted()).toEqual(given.toSorted());
    expect(Object.keys(env).filter((name) => !main.includes(`'${name}'`))).toEqual([]);
  });

  test('puts no expression into the text of a script, where a branch name could become a command', () => {
    expect(action.runs.steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });

  test('has the outputs that the script writes', () => {
    for (const name of Object.keys(action.outputs)) expect(main).toContain(`${name}=`);
  });
});
