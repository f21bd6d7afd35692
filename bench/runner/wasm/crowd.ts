/**
 * Many concurrent callers, and the memory of the cell that waits for the next call.
 *
 * @module
 */
import { join } from 'node:path';
import { meanCellBytes } from '../memory.ts';
import { measureThroughput, type Throughput } from '../throughput.ts';
import { PARAMS, type Language } from './languages.ts';
import { runtimeBehind } from './ours.ts';

export interface Crowd {
  language: string;
  throughput: Throughput;
  /** For a warm cell that has answered calls; undefined if it cannot be read. */
  cellBytes: number | undefined;
}

const CALLERS = 64;
const CALLS_BEFORE = 20;

export async function measureCrowd(language: Language, folder: string, seconds: number): Promise<Crowd> {
  const pool = { maxConcurrent: CALLERS, maxQueue: CALLERS };
  await using runtime = runtimeBehind('jail', join(folder, 'crowd'), { pool });
  const skill = await runtime.load(language.dir);
  await runtime.warm(skill);
  for (let call = 0; call < CALLS_BEFORE; call++) await runtime.execute(skill, PARAMS);
  const cellBytes = meanCellBytes();
  const call = () => runtime.execute(skill, PARAMS, { reject: false });
  const throughput = await measureThroughput({ callers: CALLERS, seconds, call });
  return { language: language.name, throughput, cellBytes };
}
