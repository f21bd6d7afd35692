import { expect, test } from 'vitest';
import { signed, u32 } from '../../src/build/binary.ts';

test.each([
  [0, [0x00], [0x00]],
  [63, [0x3f], [0x3f]],
  [64, [0x40], [0xc0, 0x00]],
  [127, [0x7f], [0xff, 0x00]],
  [128, [0x80, 0x01], [0x80, 0x01]],
  [8191, [0xff, 0x3f], [0xff, 0x3f]],
  [8192, [0x80, 0x40], [0x80, 0xc0, 0x00]],
])('LEB128 encodes %i without and with a sign', (value, unsigned, withSign) => {
  expect(u32(value)).toEqual(unsigned);
  expect(signed(value)).toEqual(withSign);
});
