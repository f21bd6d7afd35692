import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CellReport, KillReason } from '../../src/cell/contract.ts';
import { judge } from '../../src/cell/judge.ts';
import { SkillError } from '../../src/errors.ts';
import { DEFAULT_LIMITS } from '../../src/policy/compute-grant.ts';
import type { Grant } from '../../src/policy/grant.ts';

const GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: DEFAULT_LIMITS,
  withheld: [],
};

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

function verdict(changes: Partial<CellReport>, grant: Grant = GRANT): unknown {
  try {
    return judge({ ...REPORT, ...changes }, grant);
  } catch (error) {
    if (error instanceof SkillError) return error.toBody();
    throw error;
  }
}

const raised = (changes: object): Partial<CellReport> => ({
  reply: { kind: 'error', type: 'E', message: 'm', trace: 't', ...changes },
});

describe('judge', () => {
  test('a result and its remarks', () => {
    const reply = { kind: 'result', value: 3, warnings: ['rounded'] } as const;
    expect(verdict({ reply: { ...reply, warnings: ['rounded'] } })).toEqual({
      result: 3,
      warnings: ['rounded'],
      problems: [],
    });
  });

  test.each(['timeout', 'memory', 'cpu', 'output'] as const)('killed for %s', (killReason) => {
    // Even with a reply: what came back of a cell that broke a limit does not count.
    expect(verdict({ killReason })).toMatchObject({
      code: 'resource_exceeded',
      detail: { limit: killReason },
    });
    expect(verdict({ killReason, reply: undefined })).toMatchObject({ detail: { limit: killReason } });
  });

  test('cancelled by the caller', () => {
    expect(verdict({ killReason: 'aborted', reply: undefined })).toMatchObject({
      code: 'cancelled',
    });
  });

  test('an error of the skill', () => {
    expect(verdict(raised({}))).toMatchObject({ code: 'skill_error', detail: { type: 'E', trace: 't' } });
  });

  test.each(['memory', 'scratch', 'processes'] as const)('an error that stands for the limit %s', (limit) => {
    expect(verdict(raised({ limit }))).toMatchObject({ code: 'resource_exceeded', detail: { limit } });
  });

  test('a denial comes before the limit and the error it led to', () => {
    const denied = { capability: 'filesystem', asked: 'read /data/x', declared: 'not granted' };
    expect(verdict(raised({ denied, limit: 'memory' }))).toMatchObject({
      code: 'capability_denied',
      message: 'The skill may not read /data/x: not granted',
      detail: denied,
    });
  });

  test('a denial of what was declared and withheld tells why it was', () => {
    const denied = { capability: 'filesystem', asked: 'read /workspace/in/a.txt', declared: 'not granted' };
    const withheld = [
      {
        capability: 'filesystem',
        declared: 'read ${workspace}/in',
        reason: 'no workspace',
        fix: 'Pass one.',
      },
    ] as const;
    expect(verdict(raised({ denied }), { ...GRANT, withheld: [...withheld] })).toMatchObject({
      code: 'capability_denied',
      message: expect.stringContaining('no workspace'),
      fix: 'Pass one.',
    });
    const other = { ...denied, asked: 'read /workspace/input' };
    expect(verdict(raised({ denied: other }), { ...GRANT, withheld: [...withheld] })).toMatchObject({
      message: expect.not.stringContaining('no workspace'),
    });
  });

  test('a denial of a host that was declared and withheld tells why it was', () => {
    const grant = {
      ...GRANT,
      withheld: [
        { capability: 'network', declared: '*.a.test', reason: 'not allowed', fix: 'Allow it.' } as const,
      ],
    };
    const fixOf = (asked: string): unknown =>
      verdict(raised({ denied: { capability: 'network', asked, declared: 'none' } }), grant);
    for (const asked of ['GET https://b.a.test/x', 'CONNECT https://b.a.test:8443'])
      expect(fixOf(asked)).toMatchObject({ fix: 'Allow it.' });
    expect(fixOf('GET https://a.test/b.a.test')).toMatchObject({ fix: expect.not.stringContaining('Allow') });
  });

  test.each([
    ['filesystem', 'write /data', '{ path: "/data", access: read-write }'],
    ['filesystem', 'read /data', '{ path: "/data", access: read }'],
    ['network', 'connect a.test:443', '{ host: "a.test" }'],
    ['env', 'read KEY', 'KEY: { required: true }'],
    ['process', 'start ls', 'processes: 8'],
  ])('the fix for a denied %s (%s) is what to declare', (capability, asked, fix) => {
    const denied = { capability, asked, declared: 'none' };
    expect(verdict(raised({ denied }))).toMatchObject({ fix: expect.stringContaining(fix) });
  });

  test('a result above the limit on output', () => {
    expect(verdict({ resultBytes: DEFAULT_LIMITS.output + 1 })).toMatchObject({
      detail: { limit: 'output' },
    });
    expect(verdict({ resultBytes: DEFAULT_LIMITS.output })).toMatchObject({ result: { a: 1 } });
  });

  test('a broken protocol', () => {
    const reply = { kind: 'broken', message: 'a frame that is no object' } as const;
    expect(verdict({ reply, killReason: 'protocol' })).toMatchObject({
      code: 'skill_error',
      message: expect.stringContaining('a frame that is no object'),
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
  ] as const)('no reply and %o', (exit, code, text) => {
    const body = verdict({ reply: undefined, exit }) as { code: string; message: string };
    expect(body.code).toBe(code);
    expect(body.message).toContain(text);
  });

  test('a cell that never came up is our fault, with the last word of the wall', () => {
    const logs = 'first\nbwrap: no such path\n';
    expect(
      verdict({ started: false, reply: undefined, exit: { code: 1, signal: null }, logs }),
    ).toMatchObject({
      code: 'internal',
      message: 'The cell did not start: bwrap: no such path',
    });
  });

  test('every report gets a result or an error with a message and a fix, and the same one each time', () => {
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
