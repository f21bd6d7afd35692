/**
 * Another caller beside a program that makes thousands of calls: how much longer its own calls take.
 *
 * @module
 */
import type { Runtime } from '../../../src/index.ts';
import { TEXT } from '../jobs.ts';
import { summarize, type Row } from '../statistics.ts';

export const ALONE = 'another caller, alone';
export const BESIDE = 'another caller, beside a program';

const AT_ONCE = 8;
/** As many as it makes beside a program of a thousand calls, roughly. */
const MOST_ALONE = 300;
const PAUSE_MS = 3;
const TIMES = 3;

const SOURCE = `let made = 0;
while (made < input.calls) {
  const some = Array.from({ length: Math.min(${AT_ONCE}, input.calls - made) }, () => skills[input.id]({ text: input.text }));
  made += (await Promise.all(some)).length;
}
return made;`;

/** `id` is what the program calls; `call` is one call of the neighbour, to another skill. */
export async function measureNeighbour(
  runtime: Runtime,
  { id, calls, call }: { id: string; calls: number; call: () => Promise<unknown> },
): Promise<Row[]> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    await callWhile(call, alone, (made) => made < Math.min(calls, MOST_ALONE));
    let runs = true;
    const input = { id, text: TEXT, calls };
    const limits = { calls, timeout: '240s', cpu: '200s' };
    const program = runtime
      .program({ language: 'typescript', source: SOURCE, skills: [id] }, input, { limits })
      .finally(() => (runs = false));
    await callWhile(call, beside, () => runs);
    const { result } = await program;
    if (result !== calls) throw new Error(`The program made ${String(result)} calls`);
  }
  return [summarize(ALONE, alone), summarize(BESIDE, beside)];
}

async function callWhile(
  call: () => Promise<unknown>,
  samples: number[],
  goesOn: (made: number) => boolean,
): Promise<void> {
  for (let made = 0; goesOn(made); made++) {
    const began = performance.now();
    await call();
    samples.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
