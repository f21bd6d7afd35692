/**
 * What a person sees of a transfer.
 */
import { expect, test } from 'vitest';
import { describeTransfer } from '../../src/cli/live-transfer.ts';

test.each([
  [1_000_000, 2_000_000, '[==========          ] 1.0 of 2.0 MB a layer'],
  [0, 5000, '[                    ] 0.0 of 5.0 kB a layer'],
  [5000, 5000, '[====================] 5.0 of 5.0 kB a layer'],
  [1500, undefined, '1.5 kB a layer'],
  [3_400_000, undefined, '3.4 MB a layer'],
  [10, 0, '0.0 kB a layer'],
])('%d of %d bytes', (done, total, shown) => {
  expect(describeTransfer(done, total, 'a layer')).toBe(shown);
});

test('more than was announced is a full bar, and names cannot move the cursor', () => {
  expect(describeTransfer(9000, 4000, 'a\u001b[2J\n')).toBe(
    '[====================] 4.0 of 4.0 kB a\\u001b[2J\\n',
  );
});
