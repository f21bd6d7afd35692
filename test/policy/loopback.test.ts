import { expect, test } from 'vitest';
import { isLoopback } from '../../src/policy/loopback.ts';

test.each(['localhost', '127.0.0.1', '127.255.0.9', '::1', '0:0:0:0:0:0:0:1', '::0001'])(
  '%s is recognized as reachable from this machine only',
  (host) => expect(isLoopback(host)).toBe(true),
);

test.each([
  '0.0.0.0',
  '::',
  '128.0.0.1',
  '192.0.2.1',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.1',
  '',
  '::2',
  '::ffff:192.0.2.1',
])('%s is treated as an address that others can reach', (host) => expect(isLoopback(host)).toBe(false));
