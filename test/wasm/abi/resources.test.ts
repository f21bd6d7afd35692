import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liftParams } from '../../../guest/wasm/abi/lift.ts';
import { lowerParams, lowerResult } from '../../../guest/wasm/abi/lower.ts';
import {
  CallScope,
  GuestResource,
  HandleTable,
  type ResourceType,
} from '../../../guest/wasm/abi/resources.ts';
import { funcType, handleType } from '../../../guest/wasm/abi/types.ts';
import { GuestEnd } from '../../../guest/wasm/contract.ts';
import { basicContext } from './support.ts';

const file: ResourceType = { name: 'file', owner: undefined };
const stream: ResourceType = { name: 'stream', owner: undefined };
const table = (limit = 10): HandleTable => new HandleTable({ held: 0, limit });

describe('handles', () => {
  it('are never 0, are reused after a drop, and are invalid in between', () => {
    const handles = table();
    const first = handles.add(file, {});
    expect(first).toBe(1);
    handles.drop(first, file);
    expect(() => handles.get(first, file)).toThrow(/Unknown handle/);
    expect(() => handles.drop(first, file)).toThrow(GuestEnd);
    expect(handles.add(stream, {})).toBe(first);
    expect(() => handles.get(first, file)).toThrow(/is not a "file"/);
  });

  it('cannot be forged', () => {
    const handles = table();
    handles.add(file, {});
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(0, 2)), (index) => {
        fc.pre(index !== 1);
        expect(() => handles.get(index, file)).toThrow(GuestEnd);
        expect(() => handles.takeOwn(index, file)).toThrow(GuestEnd);
        expect(() => handles.drop(index, file)).toThrow(GuestEnd);
      }),
    );
  });

  it('are limited across all tables, and a drop frees one', () => {
    const quota = { held: 0, limit: 2 };
    const [one, other] = [new HandleTable(quota), new HandleTable(quota)];
    one.add(file, {});
    const second = other.add(file, {});
    expect(() => one.add(file, {})).toThrow(expect.objectContaining({ kind: 'limit', detail: 'handles' }));
    other.drop(second, file);
    expect(one.add(file, {})).toBe(2);
  });

  it('cannot be transferred or dropped while lent', () => {
    const handles = table();
    const index = handles.add(file, {});
    const scope = new CallScope();
    handles.lend(index, file, scope);
    expect(() => handles.takeOwn(index, file)).toThrow(/lent/);
    expect(() => handles.drop(index, file)).toThrow(/lent/);
    scope.end();
    expect(handles.takeOwn(index, file)).toEqual({});
  });

  it('that are borrowed cannot be transferred and must be dropped by the end of the call', () => {
    const handles = table();
    const scope = new CallScope();
    const index = handles.add(file, {}, scope);
    expect(() => handles.takeOwn(index, file)).toThrow(/borrowed/);
    expect(() => scope.end()).toThrow(/not dropped/);
    expect(handles.drop(index, file)).toBeUndefined();
    scope.end();
  });

  it('drop what the guest still owns at the end, newest first, and nothing borrowed', () => {
    const handles = table();
    const dropped: string[] = [];
    const resource = (name: string): { drop: () => void } => ({ drop: () => void dropped.push(name) });
    handles.add(file, resource('old'));
    handles.add(file, resource('lent'), new CallScope());
    handles.add({ name: 'theirs', owner: 0 }, 7);
    handles.add(stream, resource('new'));
    handles.dropHostResources();
    expect(dropped).toEqual(['new', 'old']);
    handles.dropHostResources();
    expect(dropped).toHaveLength(2);
  });

  it('are all dropped even if one of them fails', () => {
    const handles = table();
    let dropped = 0;
    handles.add(file, { drop: () => void (dropped += 1) });
    handles.add(file, {
      drop: () => {
        throw new Error('stuck');
      },
    });
    expect(() => handles.dropHostResources()).toThrow('stuck');
    expect(dropped).toBe(1);
  });
});

describe('resources as values', () => {
  it('leave the table when an owned handle is passed to the host', () => {
    const context = basicContext();
    const object = {};
    const own = handleType('own', file);
    const index = lowerResult(context, own, { value: object, address: undefined });
    const { params } = funcType([{ name: 'self', type: own }]);
    expect(liftParams(context, params, [index])[0]).toBe(object);
    expect(() => liftParams(context, params, [index])).toThrow(/Unknown handle/);
  });

  it('stay in the table when borrowed, and are the same object', () => {
    const context = basicContext();
    const object = {};
    const index = lowerResult(context, handleType('own', file), { value: object, address: undefined });
    const { params } = funcType([{ name: 'self', type: handleType('borrow', file) }]);
    expect(liftParams(context, params, [index])[0]).toBe(object);
    expect(liftParams(context, params, [index])[0]).toBe(object);
  });

  it('are refused as another type', () => {
    const context = basicContext();
    const index = lowerResult(context, handleType('own', file), { value: {}, address: undefined });
    const { params } = funcType([{ name: 'self', type: handleType('borrow', stream) }]);
    expect(() => liftParams(context, params, [index])).toThrow(/is not a "stream"/);
  });

  it('must be objects of the right kind', () => {
    const context = basicContext();
    const theirs: ResourceType = { name: 'theirs', owner: 3 };
    const lower = (type: ResourceType, value: unknown) => () =>
      lowerParams(context, funcType([{ name: 'p', type: handleType('own', type) }]).params, [value]);
    expect(lower(file, 7)).toThrow(GuestEnd);
    expect(lower(file, null)).toThrow(GuestEnd);
    expect(lower(file, new GuestResource(theirs, 1))).toThrow(GuestEnd);
    expect(lower(theirs, {})).toThrow(GuestEnd);
    expect(lower(theirs, new GuestResource({ ...theirs }, 1))).toThrow(GuestEnd);
    expect(lower(theirs, new GuestResource(theirs, 1))()).toEqual([1]);
  });
});
