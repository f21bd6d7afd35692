import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makePlaceholders, shapeOf } from '../../../src/cell/protocol/placeholders.ts';
import type { Grant } from '../../../src/policy/grant.ts';

const made = (value: string): string => {
  const secrets = [{ name: 'KEY', hosts: ['api.test'], required: true, shape: shapeOf(value) }];
  return makePlaceholders({ secrets } as unknown as Grant)['KEY'] ?? '';
};

describe('a placeholder', () => {
  it.each([
    ['sk-ant-api03-invented', /^sk-ant-api03-[A-Za-z0-9]{32}$/],
    ['ghp_' + 'aB3'.repeat(12), /^ghp_[A-Za-z0-9]{36}$/],
    ['0123456789abcdef'.repeat(4), /^[0-9a-f]{64}$/],
    ['3f0c1a4e-0000-4000-8000-123456789abc', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    ['a phrase with spaces & signs', /^[A-Za-z0-9]{32}$/],
  ])('has the shape of the key %s', (value, expected) => {
    expect(made(value)).toMatch(expected);
  });

  it('is new each time, and contains nothing of the value except a known prefix', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, maxLength: 80 }), (value) => {
        const placeholder = made(value);
        expect(placeholder).not.toBe(made(value));
        expect(placeholder).not.toContain(value.slice(0, 8));
        expect(placeholder).toMatch(/^[A-Za-z0-9_.-]{32,}$/);
      }),
    );
  });

  it('exists for each secret of a grant, and for nothing else', () => {
    expect(makePlaceholders({} as unknown as Grant)).toEqual({});
    const secrets = ['A', 'B'].map((name) => ({ name, hosts: ['api.test'], required: false }));
    const placeholders = makePlaceholders({ secrets } as unknown as Grant);
    expect(Object.keys(placeholders)).toEqual(['A', 'B']);
    expect(placeholders['A']).not.toBe(placeholders['B']);
  });
});
