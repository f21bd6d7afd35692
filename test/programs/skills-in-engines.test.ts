/**
 * `capabilities.skills` in every engine that carries it, behind every start of a cell: the same acts, the same results, the
 * same denials.
 */
import { afterAll, describe } from 'vitest';
import type { RuntimeOptions } from '../../src/index.ts';
import type { StartKind } from '../../src/outcome.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import type { Language } from './calling-skills.ts';
import { skillsContract } from './skills-contract.ts';
import { writeCommonSkills } from './skills-of-tests.ts';

interface Engine {
  name: string;
  language: Language;
  execution: string;
  pool?: RuntimeOptions['pool'];
  start: StartKind;
}

const COLD = { pool: { size: 0 }, start: 'cold' } as const;
const POOLED = { pool: { size: 1, maxStandby: 1 }, start: 'pool' } as const;
const ENGINES: readonly Engine[] = [
  { name: 'TypeScript in Wasm', language: 'typescript', execution: 'wasm', ...POOLED },
  { name: 'Python in Wasm', language: 'python', execution: 'wasm', ...POOLED },
  { name: 'Node in a jail, cold', language: 'typescript', execution: 'subprocess', ...COLD },
  { name: 'Node in a jail, pooled', language: 'typescript', execution: 'subprocess', ...POOLED },
  { name: 'Python in a jail, cold', language: 'python', execution: 'subprocess', ...COLD },
  { name: 'Python in a jail, pooled', language: 'python', execution: 'subprocess', ...POOLED },
  {
    ...{ name: 'Python in a jail, forked', language: 'python', execution: 'subprocess' },
    ...{ pool: { size: 1, maxStandby: 1, ready: 'zygote' }, start: 'zygote' },
  },
];

describe.each(ENGINES)('$execution', ({ name, pool, ...cell }) => {
  const opened = openTestRuntime(pool ? { pool } : {});
  writeCommonSkills(opened.folder);
  afterAll(opened.close);
  skillsContract(name, { ...cell, opened: () => opened });
});
