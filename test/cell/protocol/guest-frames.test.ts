import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asError, asEvent } from '../../../src/cell/protocol/guest-frames.ts';
import { GUEST_LIMITS } from '../../../src/vocabulary/limits.ts';
import { CAPABILITY_NAMES } from '../../../src/vocabulary/capabilities.ts';
import { printable } from '../../../src/manifest/printable.ts';

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('in a frame from a guest,', () => {
  test('a denial keeps its three texts', () => {
    const denial = { capability: 'network', asked: 'connect a.test:443', declared: 'no such host' };
    const sent: Record<string, unknown> = { t: 'denied', ...denial, extra: 1 };
    expect(asEvent(sent, 'denied')).toEqual(denial);
  });

  test('an unknown capability is rejected', () => {
    expect(asEvent({ capability: '__proto__', asked: 1, declared: null }, 'denied')).toBeUndefined();
    expect(asEvent({ capability: 'teleport', asked: 'go', declared: '' }, 'used')).toBeUndefined();
    expect(asEvent({ asked: 'go', declared: '' }, 'denied')).toBeUndefined();
    expect(asError({ type: 'E', denied: { capability: 'teleport', asked: 'go' } })).toEqual({
      kind: 'broken',
      message: 'a frame with the unknown capability "teleport"',
    });
  });

  test.each(CAPABILITY_NAMES)(
    'a use of the capability %s is accepted if the guest can see it',
    (capability) => {
      const isSeenByHost = ['network', 'secret', 'skill'].includes(capability);
      const event = asEvent({ capability, asked: 'x', declared: 'y' }, 'used');
      expect(event?.capability).toBe(isSeenByHost ? undefined : capability);
    },
  );

  test('an error keeps type, message, trace, denial and limit', () => {
    const denied = { capability: 'env', asked: 'read A', declared: 'not in env_vars' };
    const body = { type: 'KeyError', message: 'A', trace: 'Traceback\n', denied, limit: 'memory' };
    expect(asError(body)).toEqual({ kind: 'error', ...body });
  });

  test.each(['timeout', 'busy', 'no_such_limit', 7])(
    'the limit %s, which a guest cannot report, breaks the protocol',
    (limit) => {
      expect(asError({ type: 'E', limit })).toMatchObject({ kind: 'broken' });
    },
  );

  test.each(GUEST_LIMITS)('the limit %s is accepted', (limit) => {
    expect(asError({ type: 'E', limit })).toMatchObject({ kind: 'error', limit });
  });

  test('any text becomes short and printable', () => {
    const anything = fc.dictionary(
      fc.constantFrom('type', 'message', 'trace', 'denied', 'limit', 'capability', 'asked', 'declared'),
      fc.oneof(fc.string({ unit: 'binary', maxLength: 20_000 }), fc.jsonValue(), fc.object()),
    );
    fc.assert(
      fc.property(anything, (body) => {
        const error = asError(body);
        const denial = asEvent({ ...body, capability: 'env' }, 'denied');
        if (!denial) throw new Error('no denial');
        const texts = error.kind === 'error' ? [error.type, error.trace] : [];
        for (const text of [...texts, error.message, denial.asked, denial.declared]) {
          expect(text.length).toBeLessThanOrEqual(10_001);
          expect(text).not.toMatch(CONTROL);
          expect(text.isWellFormed()).toBe(true);
        }
        expect(denial.asked.length).toBeLessThanOrEqual(501);
      }),
    );
  });

  test('terminal control characters are escaped, except line ends and tabs', () => {
    expect(printable('a\u001b[31m\u0007\u009b\u202e\ud800\r\tb\nc')).toBe(
      String.raw`a\u001b[31m\u0007\u009b\u202e` + '\ufffd' + String.raw`\u000d` + '\tb\nc',
    );
  });
});
