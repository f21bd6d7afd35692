/**
 * Every other way a call can fail: limits, errors of the skill, parameters, manifests, trust. The printed fix is followed,
 * and the same call succeeds.
 *
 * @module
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unknownOutcome } from '../../src/cluster/client-call.ts';
import { SkillError } from '../../src/errors.ts';
import { ERROR_CODES } from '../../src/vocabulary/error-codes.ts';
import { openScenes } from './hello-server.ts';
import { inLanguage } from './languages.ts';
import type { Row } from './scene.ts';

const { scenes, port } = await openScenes();

const exceeded = { code: 'resource_exceeded' } as const;
const limits = (values: Record<string, unknown>): Record<string, unknown> => ({
  limits: { timeout: '120s', ...values },
});
const SLOW = { op: 'sleep', seconds: 0.6 };

const LIMITS: Row[] = [
  {
    ...inLanguage('python', limits({ timeout: '300ms' })),
    ...exceeded,
    name: 'a timeout of the manifest',
    params: SLOW,
    raiseTo: '60s',
    says: /Raise limits\.timeout in ".*manifest\.yaml" above 300ms\. The policy allows at most 5m/,
  },
  {
    ...inLanguage('python'),
    ...exceeded,
    name: 'a timeout that the caller lowered',
    params: SLOW,
    options: { timeout: 300 },
    says: /^Give it less work, or do this: Pass a --timeout above 300ms, or leave the option out\.$/,
  },
  {
    ...inLanguage('python'),
    ...exceeded,
    name: 'a timeout of the policy',
    params: SLOW,
    policy: 'ceilings: { timeout: 300ms }\n',
    raiseTo: '60s',
    says: /do this: Raise ceilings\.timeout in ".*skillcell\.policy\.yaml" above 300ms\./,
  },
  ...(['python', 'node', 'js in wasm'] as const).flatMap((language): Row[] => [
    {
      ...inLanguage(language, limits({ memory: '64MiB' })),
      ...exceeded,
      name: `${language}: memory`,
      params: { op: 'memory', mib: 96 },
      raiseTo: '512MiB',
      says: /Raise limits\.memory/,
    },
  ]),
  {
    ...inLanguage('python'),
    ...exceeded,
    name: 'memory that the caller lowered',
    params: { op: 'memory', mib: 96 },
    options: { memory: 64 * 1024 * 1024 },
    says: /--memory above 64MiB, or leave the option out/,
  },
  {
    ...inLanguage('python'),
    ...exceeded,
    name: 'a native library that dies for want of memory',
    params: { op: 'abort' },
    advice: true,
    says: /Raise limits\.memory in ".*" above 256MiB/,
  },
  {
    ...inLanguage('python', limits({ cpu: '200ms' })),
    ...exceeded,
    name: 'CPU time',
    params: { op: 'spin', count: 20_000_000 },
    raiseTo: '100s',
    says: /Raise limits\.cpu/,
  },
  ...(['python', 'node', 'js in wasm'] as const).flatMap((language): Row[] => [
    {
      ...inLanguage(language),
      ...exceeded,
      name: `${language}: output`,
      params: { op: 'output', mib: 2 },
      raiseTo: '4MiB',
      says: /Raise limits\.output/,
    },
  ]),
  {
    ...inLanguage('python', limits({ scratch: '4MiB' })),
    ...exceeded,
    name: 'scratch space',
    params: { op: 'scratch', mib: 8 },
    raiseTo: '64MiB',
    says: /Raise limits\.scratch/,
  },
  {
    ...inLanguage('python', limits({ processes: 2 })),
    ...exceeded,
    name: 'processes',
    params: { op: 'crowd' },
    raiseTo: 16,
    says: /Raise limits\.processes/,
  },
];

const SCHEMA = { type: 'object', required: ['text'], properties: { text: { type: 'string' }, op: {} } };
const python = (source: string, manifest: Record<string, unknown> = {}): Pick<Row, 'skill'> => ({
  skill: { source, manifest: { execution: ['subprocess'], ...manifest } },
});

const AUTHOR = { code: 'skill_error', advice: true } as const;
const SKILLS: Row[] = [
  {
    ...inLanguage('python'),
    name: 'an error in Python names the line',
    ...AUTHOR,
    params: { op: 'fail' },
    says: /^Correct skill\.py:\d+, /,
  },
  {
    ...inLanguage('node'),
    name: 'an error in JavaScript names the line',
    ...AUTHOR,
    params: { op: 'fail' },
    says: /^Correct skill\.js:\d+, /,
  },
  {
    ...inLanguage('python'),
    name: 'a result that is not JSON',
    ...AUTHOR,
    params: { op: 'value' },
    says: /^Return only objects, arrays, strings/,
  },
  {
    ...inLanguage('python', { outputs: { op: { type: 'integer' } } }),
    name: 'a result that does not match its schema',
    ...AUTHOR,
    params: { op: 'echo' },
    says: /"outputs" in the manifest/,
  },
  {
    skill: { ...inLanguage('python', { parameters: SCHEMA }).skill, id: 'test/params' },
    name: 'parameters that do not match',
    code: 'invalid_params',
    params: { op: 'echo' },
    says: /skillcell inspect/,
    person: () => ({ text: 'here' }),
  },
  {
    ...python('import os\ndef execute(params):\n    return os.environ.get("COLOUR")\n'),
    name: 'a variable that is read but not declared',
    code: 'manifest_drift',
    says: /Set env_vars\.COLOUR in ".*": \{ required: false \}/,
  },
  {
    ...python(
      'import urllib.request\ndef execute(params):\n    return urllib.request.urlopen(params["url"]).read().decode()\n',
    ),
    name: 'an imported network module',
    code: 'manifest_drift',
    params: { url: `http://127.0.0.1:${port}/a` },
    policy: 'network: { allow_private: ["127.0.0.1"] }\n',
    says: /`skillcell record .* --allow-network --write`/,
    judge: true,
  },
  {
    ...python('def execute(params):\n    return {\n'),
    name: 'a syntax error',
    code: 'manifest_drift',
    says: /^Correct the syntax of the source at skill\.py:2/,
    person: ({ dir }) => writeFileSync(join(dir, 'skill.py'), 'def execute(params):\n    return {}\n'),
  },
  {
    ...inLanguage('python'),
    name: 'a file that changed since it was locked',
    code: 'manifest_drift',
    params: { op: 'echo' },
    arrange: async (all, { dir, cwd }) => {
      await all.run(`skillcell lock ${dir}`, cwd);
      appendFileSync(join(dir, 'skill.py'), '# changed\n');
    },
    says: /`skillcell lock \//,
  },
  {
    ...inLanguage('python', { limits: { timeout: 'soon' } }),
    name: 'a limit without a unit',
    code: 'manifest_invalid',
    params: { op: 'echo' },
    advice: true,
    says: /manifest\.yaml/,
  },
  {
    ...inLanguage('python', { entry: 'missing.py' }),
    name: 'an entry that does not exist',
    code: 'manifest_invalid',
    params: { op: 'echo' },
    advice: true,
    says: /missing\.py|entry/,
  },
];

const TRUST: Row[] = [
  {
    ...inLanguage('python'),
    name: 'a rule that denies the skill',
    code: 'untrusted',
    params: { op: 'echo' },
    policy: 'skills: [{ match: "test/*", decision: deny }]\n',
    advice: true,
    says: /the rule for "test\/\*" under "skills" in the policy/,
  },
  {
    ...inLanguage('python', { execution: ['in_process', 'subprocess'] }),
    name: 'a mode without isolation',
    code: 'untrusted',
    params: { op: 'echo' },
    options: { execution: 'in_process' },
    advice: true,
    says: /--execution subprocess|subprocess/,
  },
  {
    ...inLanguage('python'),
    name: 'a rule that asks for an approval',
    code: 'approval_required',
    params: { op: 'echo' },
    policy: 'skills: [{ match: "test/*", decision: ask }]\n',
    says: /skillcell approve \//,
  },
  {
    ...inLanguage('python', { env_vars: { COLOUR: { required: true } } }),
    name: 'a required variable that nobody approved',
    code: 'approval_required',
    params: { op: 'env', name: 'COLOUR' },
    says: /--env COLOUR/,
  },
  {
    ...inLanguage('python', { env_vars: { SIZE: { required: true } } }),
    name: 'a required variable without a value',
    code: 'usage',
    params: { op: 'env', name: 'SIZE' },
    options: { allowEnv: ['SIZE'] },
    says: /export SIZE=…/,
  },
  {
    ...inLanguage('python', { env_vars: { COLOUR: { required: true } } }),
    name: 'a variable that the policy does not list',
    code: 'usage',
    params: { op: 'env', name: 'COLOUR' },
    options: { allowEnv: ['COLOUR'] },
    policy: 'env: { allow: [SIZE] }\n',
    says: /Set env\.allow in ".*": \["SIZE", "COLOUR"\]/,
  },
  {
    ...inLanguage('python'),
    name: 'a missing signature',
    code: 'signature_invalid',
    params: { op: 'echo' },
    policy: 'skills: [{ match: "test/*", decision: allow, require_signature: true }]\n',
    advice: true,
    says: /signed copy from its publisher/,
  },
  {
    ...inLanguage('python'),
    name: 'arguments that a guard denies',
    code: 'untrusted',
    params: { op: 'echo', amount: 101 },
    policy:
      'guard: [{ arguments: [{ path: $.amount, above: 100 }], decision: deny, reason: more than 100 }]\n',
    says: /^Call it with other arguments/,
    person: () => ({ amount: 99 }),
  },
];

const LOST_CALL = {
  id: '01M7T557E18ZXS5TEX7BQZJHND',
  skill: { name: 'test/lost', digest: `sha256:${'0'.repeat(64)}` },
};

const USAGE: Row[] = [
  {
    ...inLanguage('python'),
    name: 'options that contradict each other',
    code: 'usage',
    params: { op: 'echo' },
    options: { isolated: true, trustRemoteCode: true },
    says: /^Pass --isolated for an untrusted skill/,
    without: ['trustRemoteCode'],
  },
  {
    ...inLanguage('python'),
    name: 'a mode that the manifest does not list',
    code: 'usage',
    params: { op: 'echo' },
    options: { execution: 'wasm' },
    says: /^Use --execution subprocess, or leave the option out\.$/,
  },
  {
    ...inLanguage('python', {
      capabilities: { filesystem: [{ path: '${workspace}/missing', access: 'read' }] },
    }),
    name: 'a declared folder that does not exist',
    code: 'usage',
    params: { op: 'list', path: '/workspace/missing' },
    says: /^Create ".*\/workspace\/missing" before the call/,
    person: ({ workspace }) => mkdirSync(join(workspace, 'missing')),
  },
  {
    ...inLanguage('python'),
    name: 'a call that its caller cancelled',
    code: 'cancelled',
    params: { op: 'echo' },
    options: { signal: AbortSignal.abort() },
    says: /^Call it again if you still need the result\.$/,
    without: ['signal'],
  },
  {
    ...inLanguage('python'),
    name: 'a fault of Skillcell itself',
    code: 'internal',
    params: { op: 'echo' },
    options: { load: () => Promise.reject(new TypeError('an invented fault')) },
    advice: true,
    says: /report this with .* `skillcell doctor`/,
  },
  {
    ...inLanguage('python'),
    name: 'a call whose worker was lost',
    code: 'outcome_unknown',
    params: { op: 'echo' },
    options: { load: () => Promise.reject(SkillError.fromOutcome(unknownOutcome(LOST_CALL, 'w1'))) },
    advice: true,
    says: /^Find out what the skill did, for example from its receipt,/,
  },
  {
    ...inLanguage('python', { capabilities: { network: [{ host: 'a.test', methods: ['GET'] }] } }),
    name: 'methods of an https host, which only TLS inspection can see',
    code: 'unenforceable',
    params: { op: 'echo' },
    advice: true,
    says: /inspect_tls/,
  },
  {
    ...inLanguage('python', {
      execution: ['container'],
      container: { image: 'localhost/nothing-like-this' },
    }),
    name: 'an image that is not there',
    code: 'skill_unavailable',
    params: { op: 'echo' },
    advice: true,
    says: /skillcell build|image|doctor/,
  },
];

const TABLES: [string, Row[]][] = [
  ['limits', LIMITS],
  ['skills', SKILLS],
  ['trust', TRUST],
  ['usage', USAGE],
];

describe.each(TABLES)('%s', (_, rows) => {
  test.each(rows)('$name', async (row) => {
    expect(await scenes.prove(row)).not.toBe('');
  });
});

test('every error code has a row', () => {
  const codes = new Set(['capability_denied', ...TABLES.flatMap(([, rows]) => rows.map(({ code }) => code))]);
  expect(ERROR_CODES.filter((code) => !codes.has(code))).toEqual([]);
});
