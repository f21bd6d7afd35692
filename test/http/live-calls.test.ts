/**
 * What watchers of a call see: all of its output in order, in a bounded number of events.
 */
import { expect, test } from 'vitest';
import { WatchedCall, type LiveEvent } from '../../src/http/live-calls.ts';

const DONE = { type: 'done', outcome: {} } as LiveEvent;

test('output beyond the limit of events is merged, and comes before the end', async () => {
  const call = new WatchedCall({ skill: 'a/b', tenant: 'acme', caller: 'acme/token' });
  const printed = { stdout: '', stderr: '' };
  for (let number = 0; number < 12_000; number++) {
    const stream = number % 3 === 0 ? 'stderr' : 'stdout';
    printed[stream] += `${number}\n`;
    call.record({ type: 'log', text: `${number}\n`, stream });
  }
  call.record(DONE);
  call.end();
  const seen: LiveEvent[] = [];
  for await (const event of call.follow()) seen.push(event);
  const text = (stream: string): string =>
    seen.flatMap((event) => (event.type === 'log' && event.stream === stream ? [event.text] : [])).join('');
  expect({ stdout: text('stdout'), stderr: text('stderr') }).toEqual(printed);
  expect(seen.length).toBe(10_003);
  expect(seen.at(-1)).toBe(DONE);
});
