import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CellReport, KillReason } from '../../../src/cell/contract.ts';
import { judge } from '../../../src/cell/verdict/judge.ts';
import { NO_SITUATION, type Situation } from '../../../src/cell/verdict/situation.ts';
import { SkillError } from '../../../src/errors.ts';
import { DEFAULT_LIMITS } from '../../../src/vocabulary/limits.ts';
import type { Grant } from '../../../src/policy/grant.ts';
import { grantOf } from '../../broker/support.ts';

const GRANT = grantOf();

const REPORT: CellReport = {
  start: 'cold',
  started: true,
  reply: { kind: 'result', value: { a: 1 }, warnings: [] },
  exit: undefined,
  killReason: undefined,
  used: [],
  denied: [],
  logs: '',
  logBytes: 0,
  resultBytes: 7,
  wallMs: 1,
  usage: { cpuMs: 1, memoryPeakBytes: 1 },
  fuel: 0,
  hostCalls: 0,
};

function verdict(
  changes: Partial<CellReport>,
  grant: Grant = GRANT,
  situation: Situation = NO_SITUATION,
): unknown {
  try {
    return judge({ ...REPORT, ...changes }, grant, situation);
  } catch (error) {
    if (error instanceof SkillError) return error.toBody();
    throw error;
  }
}

const raised = (changes: object): Partial<CellReport> => ({
  reply: { kind: 'error', type: 'E', message: 'm', trace: 't', ...changes },
});

describe('judge', () => {
  test('returns a result with its warnings', () => {
    const reply = { kind: 'result', value: 3, warnings: ['rounded'] } as const;
    expect(verdict({ reply: { ...reply, warnings: ['rounded'] } })).toEqual({
      result: 3,
      warnings: ['rounded'],
      problems: [],
    });
  });

  test.each(['timeout', 'memory', 'cpu', 'output'] as const)(
    'reports a cell killed for %s as that limit',
    (killReason) => {
      // Even with a reply, because the reply of a cell that exceeded a limit does not count.
      expect(verdict({ killReason })).toMatchObject({
        code: 'resource_exceeded',
        detail: { limit: killReason },
      });
      expect(verdict({ killReason, reply: undefined })).toMatchObject({ detail: { limit: killReason } });
    },
  );

  test('reports a cancellation by the caller', () => {
    expect(verdict({ killReason: 'aborted', reply: undefined })).toMatchObject({
      code: 'cancelled',
    });
  });

  test('reports an error of the skill', () => {
    expect(verdict(raised({}))).toMatchObject({ code: 'skill_error', detail: { type: 'E', trace: 't' } });
  });

  test.each(['memory', 'scratch', 'processes'] as const)(
    'reports an error caused by the limit %s as that limit',
    (limit) => {
      expect(verdict(raised({ limit }))).toMatchObject({ code: 'resource_exceeded', detail: { limit } });
    },
  );

  test('reports a denial rather than the limit or error that it caused', () => {
    const denied = { capability: 'filesystem', asked: 'read /data/x', declared: 'not granted' };
    expect(verdict(raised({ denied, limit: 'memory' }))).toMatchObject({
      code: 'capability_denied',
      message: 'The skill may not read /data/x: not granted',
      detail: denied,
    });
  });

  test('says why a declared capability was withheld', () => {
    const denied = { capability: 'filesystem', asked: 'read /workspace/in/a.txt', declared: 'not granted' };
    const withheld = [
      {
        capability: 'filesystem',
        declared: 'read ${workspace}/in',
        reason: 'no workspace',
        fix: 'Pass one.',
      },
    ] as const;
    const filesystem = [{ path: '${workspace}/in', access: 'read' as const }];
    const situation: Situation = {
      ...NO_SITUATION,
      manifest: { capabilities: { filesystem, network: [], syscalls: 'default' }, limits: {} },
      hasWorkspace: false,
    };
    expect(verdict(raised({ denied }), { ...GRANT, withheld: [...withheld] }, situation)).toMatchObject({
      code: 'capability_denied',
      message: expect.stringContaining('no workspace'),
      fix: 'Pass --workspace DIR (library: workspace).',
    });
    const other = { ...denied, asked: 'read /workspace/input' };
    expect(verdict(raised({ denied: other }), { ...GRANT, withheld: [...withheld] })).toMatchObject({
      message: expect.not.stringContaining('no workspace'),
    });
  });

  test('says why a declared host was withheld', () => {
    const grant = {
      ...GRANT,
      withheld: [
        { capability: 'network', declared: '*.a.test', reason: 'not allowed', fix: 'Allow it.' } as const,
      ],
    };
    const fixOf = (asked: string): unknown =>
      verdict(raised({ denied: { capability: 'network', asked, declared: 'none' } }), grant);
    for (const asked of ['GET https://b.a.test/x', 'CONNECT https://b.a.test:8443'])
      expect(fixOf(asked)).toMatchObject({
        message: expect.stringContaining('it is declared, but not allowed'),
      });
    expect(fixOf('GET https://a.test/b.a.test')).toMatchObject({
      message: expect.not.stringContaining('it is declared'),
    });
  });

  test.each([
    ['filesystem', 'write /data', '{ path: "/data", access: read-write }'],
    ['filesystem', 'read /data', '{ path: "/data", access: read }'],
    ['network', 'connect a.test:443', '{ host: "a.test" }'],
    ['env', 'read KEY', 'Set env_vars.KEY in "manifest.yaml": { required: true }.'],
    ['process', 'start ls', 'Set limits.processes in "manifest.yaml": 2.'],
    [
      'network',
      'POST http://a.test:81/b',
      '{ host: "a.test", port: 81, scheme: "http", methods: ["POST"], paths: ["/b"] }',
    ],
    ['network', 'connect a.test:81', '`skillcell record PATH --allow-network --write`'],
  ])('proposes what to declare for a denied %s (%s)', (capability, asked, fix) => {
    const denied = { capability, asked, declared: 'none' };
    expect(verdict(raised({ denied }))).toMatchObject({ fix: expect.stringContaining(fix) });
  });

  test.each([
    [{ message: "No module named 'pandas.io'" }, /^Add to requirements in "manifest\.yaml": "pandas"\./],
    [{ message: 'The package "zod" is not part of the bundle' }, /^List "zod" .* `skillcell build PATH`/],
    [{ message: "Cannot find package 'zod' imported from /skill/skill.ts" }, /^List "zod" /],
    [
      { trace: 'File "/skill/skill.py", line 4\n  File "/skill/lib/a.py", line 7, in f' },
      /^Correct lib\/a\.py:7,/,
    ],
    [
      { trace: 'E: m\n    at f (/skill/skill.js:3:9)\n    at g (/skill/skill.js:9:1)' },
      /^Correct skill\.js:3,/,
    ],
  ])('says what to do about %j', (changes, fix) => {
    expect(verdict(raised(changes))).toMatchObject({ fix: expect.stringMatching(fix) as string });
  });

  test.each([
    [{ code: null, signal: 'SIGABRT' }, { logs: 'LLVM ERROR: out of memory\n' }, 'memory'],
    [{ code: 139, signal: null }, { usage: { cpuMs: 1, memoryPeakBytes: DEFAULT_LIMITS.memory } }, 'memory'],
    [{ code: 1, signal: null }, { logs: "terminate called after throwing 'std::bad_alloc'" }, 'memory'],
    [{ code: 139, signal: null }, {}, undefined],
    [{ code: 0, signal: null }, { logs: 'out of memory' }, undefined],
  ] as const)('tells a crash for want of memory from others (%j, %j)', (exit, changes, limit) => {
    expect(verdict({ reply: undefined, exit, ...changes })).toMatchObject(
      limit === undefined ? { code: 'skill_error' } : { code: 'resource_exceeded', detail: { limit } },
    );
  });

  test('reports a result above the output limit', () => {
    expect(verdict({ resultBytes: DEFAULT_LIMITS.output + 1 })).toMatchObject({
      detail: { limit: 'output' },
    });
    expect(verdict({ resultBytes: DEFAULT_LIMITS.output })).toMatchObject({ result: { a: 1 } });
  });

  test('reports a broken protocol', () => {
    const reply = { kind: 'broken', message: 'a frame that is not an object' } as const;
    expect(verdict({ reply, killReason: 'protocol' })).toMatchObject({
      code: 'skill_error',
      message: expect.stringContaining('a frame that is not an object'),
    });
  });

  test.each([
    [{ code: 0, signal: null }, 'skill_error', 'exit code 0'],
    [{ code: 3, signal: null }, 'skill_error', 'exit code 3'],
    [{ code: 139, signal: null }, 'skill_error', 'SIGSEGV'],
    [{ code: null, signal: 'SIGSEGV' as const }, 'skill_error', 'SIGSEGV'],
    [{ code: 153, signal: null }, 'resource_exceeded', 'scratch'],
    [{ code: 152, signal: null }, 'resource_exceeded', 'cpu'],
    [{ code: 159, signal: null }, 'capability_denied', 'system call'],
  ] as const)('reports a missing reply with the exit %o', (exit, code, text) => {
    const body = verdict({ reply: undefined, exit }) as { code: string; message: string };
    expect(body.code).toBe(code);
    expect(body.message).toContain(text);
  });

  test('reports a cell that did not start as an internal error, with the last log line', () => {
    const logs = 'first\nbwrap: no such path\n';
    expect(
      verdict({ started: false, reply: undefined, exit: { code: 1, signal: null }, logs }),
    ).toMatchObject({
      code: 'internal',
      message: 'The cell did not start: bwrap: no such path',
    });
  });

  test('always returns a result or an error with a message and a fix, and is deterministic', () => {
    const reply = fc.oneof(
      fc.constant(undefined),
      fc.record({
        kind: fc.constant('result' as const),
        value: fc.jsonValue(),
        warnings: fc.constant<string[]>([]),
      }),
      fc.record({ kind: fc.constant('broken' as const), message: fc.string() }),
      fc.record({
        kind: fc.constant('error' as const),
        type: fc.string(),
        message: fc.string(),
        trace: fc.string(),
      }),
    );
    const killReason = fc.constantFrom<KillReason | undefined>(
      ...([undefined, 'timeout', 'memory', 'cpu', 'output', 'aborted', 'protocol', 'done'] as const),
    );
    const exit = fc.record({ code: fc.option(fc.integer({ min: 0, max: 255 })), signal: fc.constant(null) });
    fc.assert(
      fc.property(fc.record({ reply, killReason, exit, started: fc.boolean() }), (changes) => {
        const body = verdict(changes) as Record<string, unknown>;
        expect(verdict(changes)).toEqual(body);
        if ('result' in body) expect(changes.reply?.kind).toBe('result');
        else expect([typeof body['message'], body['fix'] !== '']).toEqual(['string', true]);
      }),
    );
  });
});
