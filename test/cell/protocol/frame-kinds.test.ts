/**
 * Frames are typed in `guest/protocol.ts`. The compiler checks TypeScript against it; this test checks Python.
 *
 * @module
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type {
  InnerPythonFrames,
  InnerPythonInit,
  PythonInit,
  SingleUseFrames,
  StartFields,
  ToSingleUse,
  ToZygote,
  ZygoteFrames,
} from '../../../guest/protocol.ts';
import { reusableKind, singleUseKind, zygoteKind } from '../../../src/cell/protocol/frame-kinds.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NATIVE = 'guest/python/_skillcell';
const INNER = 'guest/wasm/python/harness/_skillcell';

/** Field names in any member of a union. */
type NameIn<Fields> = Fields extends unknown ? keyof Fields & string : never;
type FieldsOf<Frames> = { [Kind in keyof Frames]: readonly NameIn<Frames[Kind]>[] };

const EVENT = ['capability', 'asked', 'declared'] as const;
const FAILURE = ['type', 'message', 'trace', 'denied', 'explained', 'limit'] as const;
const SINGLE_USE: FieldsOf<SingleUseFrames> = {
  ready: [],
  loaded: [],
  denied: EVENT,
  used: EVENT,
  ask: ['id', 'op', 'args'],
  result: ['value'],
  error: FAILURE,
};
const IN_WASM: FieldsOf<InnerPythonFrames> = {
  denied: EVENT,
  used: EVENT,
  ask: ['op', 'args'],
  result: [],
  error: FAILURE,
  ended: ['exit_code'],
};
const ZYGOTE: FieldsOf<ZygoteFrames> = {
  ready: [],
  listening: [],
  forked: ['id', 'pid'],
  exit: ['id', 'code', 'signal'],
};
/** Fields that the harness may read from the first frame, by file. */
const INIT: readonly (readonly [file: string, fields: readonly string[]])[] = [
  [
    `${NATIVE}/cell.py`,
    fields<PythonInit & StartFields>(
      'task',
      'entry',
      'view',
      'manifest',
      'proxy_port',
      'lockdown',
      'preload',
      'env',
    ),
  ],
  [
    `${NATIVE}/zygote.py`,
    fields<ToZygote['init']>(
      'modules',
      'siblings',
      'limits',
      'masked',
      'gateway',
      'filter',
      'fork_filter',
      'cell',
    ),
  ],
  [
    `${INNER}/wasm_cell.py`,
    fields<InnerPythonInit>('task', 'entry', 'view', 'manifest', 'network', 'siblings', 'env'),
  ],
];

function fields<Fields>(...names: NameIn<Fields>[]): readonly string[] {
  return names;
}

const read = (file: string): string => readFileSync(`${ROOT}/${file}`, 'utf8');

interface Written {
  kind: string;
  fields: string[];
}

/** The frames that a file writes as literals. */
function framesIn(source: string): Written[] {
  return [...source.matchAll(/\{"t": "(\w+)"([^}]*)\}/g)].map(([, kind = '', rest = '']) => ({
    kind,
    fields: [...rest.matchAll(/"(\w+)":/g)].map(([, name = '']) => name),
  }));
}

function unknownFramesIn(file: string, ...known: Record<string, readonly string[]>[]): Written[] {
  const fits = ({ kind, fields: used }: Written): boolean =>
    known.some((frames) => Object.hasOwn(frames, kind) && used.every((name) => frames[kind]?.includes(name)));
  return framesIn(read(file)).filter((frame) => !fits(frame));
}

describe('frames that Python writes', () => {
  const files = globSync([`${NATIVE}/*.py`, `${INNER}/*.py`], { cwd: ROOT }).toSorted();

  test('are found in the files of the harness', () => {
    const kinds = new Set(files.flatMap((file) => framesIn(read(file)).map(({ kind }) => kind)));
    expect([...kinds].toSorted()).toEqual(
      [
        'ask',
        'denied',
        'ended',
        'error',
        'exit',
        'forked',
        'listening',
        'loaded',
        'ready',
        'result',
        'used',
      ].toSorted(),
    );
  });

  test.each(files)('are of a known kind with known fields in %s', (file) => {
    const isZygote = file.endsWith('zygote.py');
    const isInner = file.startsWith(INNER);
    expect(
      unknownFramesIn(file, ...(isInner ? [IN_WASM] : [SINGLE_USE, ...(isZygote ? [ZYGOTE] : [])])),
    ).toEqual([]);
  });

  test('do not get fields of another kind later', () => {
    const added = [...read(`${NATIVE}/cell.py`).matchAll(/\bframe\["(\w+)"\] = /g)].map(([, name]) => name);
    expect(added.length).toBeGreaterThan(0);
    expect(added.filter((name) => !FAILURE.some((known) => known === name))).toEqual([]);
  });
});

describe('frames that Python reads', () => {
  test.each(INIT)('have the fields that %s reads', (file, known) => {
    const used = [...read(file).matchAll(/\b(?:self\._)?init\["(\w+)"\]/g)].map(([, name = '']) => name);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('have parameters, and the name of the fork to end', () => {
    const call: keyof ToSingleUse['call'] = 'params';
    const kill: keyof ToZygote['kill'] = 'id';
    expect(read(`${NATIVE}/cell.py`)).toContain(`protocol.receive()["${call}"]`);
    expect(read(`${NATIVE}/zygote.py`)).toContain(`frame["${kill}"]`);
  });
});

describe('the kind of a frame', () => {
  test.each([
    [
      singleUseKind,
      ['ready', 'loaded', 'denied', 'used', 'ask', 'result', 'error'],
      ['log', 'ended', 'failed', 'exit'],
    ],
    [reusableKind, ['ready', 'loaded', 'failed', 'log', 'ask', 'result', 'error'], ['forked', 'init']],
    [zygoteKind, ['ready', 'listening', 'forked', 'exit'], ['loaded', 'result', 'kill']],
  ])('is recognized only if %o knows it', (kindOf, known, others) => {
    for (const t of known) expect(kindOf({ t })).toBe(t);
    for (const t of [...others, 'toString', '__proto__', '', 1, null, ['ready']])
      expect(kindOf({ t })).toBeUndefined();
    expect(kindOf({})).toBeUndefined();
  });
});
