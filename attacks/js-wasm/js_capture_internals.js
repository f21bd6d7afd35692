/** Replaces builtins that the prelude uses, to capture host functions. */
import { readFile } from 'skillcell:fs';

export async function execute(params) {
  const caught = [];
  const { hasOwn } = Object;
  const { apply } = Reflect;
  const look = (value) => {
    if (typeof value === 'function') caught[caught.length] = value.name;
    if (typeof value === 'object' && value !== null && hasOwn(value, 'reply')) caught[caught.length] = 'host';
  };
  for (const [holder, name] of [
    [Map.prototype, 'set'],
    [Map.prototype, 'get'],
    [Set.prototype, 'add'],
    [JSON, 'stringify'],
    [JSON, 'parse'],
    [Object, 'assign'],
    [Object, 'entries'],
    [Array.prototype, 'map'],
    [Array.prototype, 'join'],
    [Promise.prototype, 'then'],
    [Promise, 'withResolvers'],
    [Function.prototype, 'call'],
    [Function.prototype, 'apply'],
    [String.prototype, 'toWellFormed'],
  ]) {
    const original = holder[name];
    Object.defineProperty(holder, name, {
      configurable: true,
      writable: true,
      value(...args) {
        look(this);
        for (let at = 0; at < args.length; at++) look(args[at]);
        return apply(original, this, args);
      },
    });
  }
  for (const name of ['start', 'reply', 'log', 'random'])
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      get() {
        look(this);
        return undefined;
      },
      set(value) {
        look(this);
        look(value);
      },
    });
  console.log('x', [1], { a: 1 });
  new TextDecoder().decode(new TextEncoder().encode('x'));
  crypto.getRandomValues(new Uint8Array(4));
  await new Promise((done) => setTimeout(done, 1));
  await readFile('skill.js').catch(() => undefined);
  const known = ['start', 'reply', 'random', 'note', 'cancel', 'host'];
  const found = caught.filter((name) => known.includes(name));
  return { succeeded: found.length > 0, evidence: found.join() };
}
