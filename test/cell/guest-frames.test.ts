import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asDenial, asError } from '../../src/cell/guest-frames.ts';
import { printable } from '../../src/cell/printable.ts';

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('frames of a guest', () => {
  test('a denial keeps its three texts', () => {
    const denial = { capability: 'network', asked: 'connect a.test:443', declared: 'no such host' };
    expect(asDenial({ t: 'denied', ...denial, extra: 1 })).toEqual(denial);
  });

  test('a capability that does not exist is none of ours', () => {
    expect(asDenial({ capability: '__proto__', asked: 1, declared: null })).toEqual({
      capability: 'syscalls',
      asked: '',
      declared: '',
    });
  });

  test('an error keeps type, message, trace, denial and limit', () => {
    const denied = { capability: 'env', asked: 'read A', declared: 'not in env_vars' };
    const body = { type: 'KeyError', message: 'A', trace: 'Traceback\n', denied, limit: 'memory' };
    expect(asError(body)).toEqual({ kind: 'error', ...body });
  });

  test('a limit that a guest has no say in is left out', () => {
    expect(asError({ type: 'E', limit: 'timeout' })).not.toHaveProperty('limit');
    expect(asError({ type: 'E', limit: 'busy' })).not.toHaveProperty('limit');
  });

  test('whatever a guest sends becomes short, printable texts', () => {
    const anything = fc.dictionary(
      fc.constantFrom('type', 'message', 'trace', 'denied', 'limit', 'capability', 'asked', 'declared'),
      fc.oneof(fc.string({ unit: 'binary', maxLength: 20_000 }), fc.jsonValue(), fc.object()),
    );
    fc.assert(
      fc.property(anything, (body) => {
        const error = asError(body);
        const denial = asDenial(body);
        if (error.kind !== 'error') throw new Error('no error');
        for (const text of [error.type, error.message, error.trace, denial.asked, denial.declared]) {
          expect(text.length).toBeLessThanOrEqual(10_001);
          expect(text).not.toMatch(CONTROL);
          expect(text.isWellFormed()).toBe(true);
        }
        expect(denial.asked.length).toBeLessThanOrEqual(501);
      }),
    );
  });

  test('what steers a terminal is replaced, line ends and tabs stay', () => {
    expect(printable('a\u001b[31m\u0007\u009b\u202e\ud800\r\tb\nc')).toBe('a�[31m�����\tb\nc');
  });
});
