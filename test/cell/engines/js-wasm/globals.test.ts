/**
 * The usual globals exist and behave as in Node.
 *
 * @module
 */
import { runInThisContext } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { openJsBench } from './js-bench.ts';

const bench = openJsBench();
afterAll(bench.close);

/** Each is an async function body; the same runs in the cell and in Node. */
const PROGRAMS = [
  'return [...new TextEncoder().encode("aä€😀\\ud800")]',
  'return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xc3, 0xff]))',
  'try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name }',
  'const into = new Uint8Array(4); return [new TextEncoder().encodeInto("aä😀", into), [...into]]',
  'return [atob(btoa("\\x00\\xff")) === "\\x00\\xff", typeof queueMicrotask, typeof performance.now()]',
  'const order = []; setTimeout(() => order.push(2), 1); setTimeout((a) => order.push(a), 1, 3); queueMicrotask(() => order.push(1)); await new Promise((r) => setTimeout(r, 1)); return order',
  'let n = 0; await new Promise((r) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r() } }, 1) }); await new Promise((r) => setTimeout(r, 20)); return n',
  'let n = 0; clearTimeout(setTimeout(() => n++, 1)); await new Promise((r) => setTimeout(r, 20)); return n',
  'const a = { d: new Date(5), r: /x/gi, m: new Map([[{ k: 1 }, new Set([1])]]), b: new Uint8Array([1, 2]), e: new RangeError("m"), n: [undefined, null, 1n] }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.d.getTime(), String(c.r), [...c.m.keys()], [...[...c.m.values()][0]], [...c.b], c.e.message, c.e instanceof RangeError, String(c.n[2]), c.n.length]',
  'try { structuredClone(() => 1) } catch (e) { return e.name }',
  'const h = new Headers([["B", " 2 "], ["a", "1"], ["b", "3"]]); h.append("Set-Cookie", "x=1"); h.append("set-cookie", "y=2"); return [[...h], h.get("B"), h.get("none"), h.has("A"), h.getSetCookie()]',
  'return ["a b", "", "ü"].map((name) => { try { new Headers({ [name]: "1" }); return "fine" } catch (e) { return e.name } })',
  'const r = new Response("hä", { status: 201, headers: { a: "b" } }); const c = r.clone(); return [r.ok, r.status, await r.text(), r.bodyUsed, [...new Uint8Array(await c.arrayBuffer())]]',
  'const r = Response.json({ a: 1 }); return [await r.json(), r.headers.get("content-type")]',
  'const r = new Request("http://h/x", { method: "post", body: new URLSearchParams({ a: "b c" }) }); return [r.method, r.url, r.headers.get("content-type"), await r.text()]',
  'const c = new AbortController(); let said = 0; c.signal.addEventListener("abort", () => said++); c.abort(); c.abort(); try { c.signal.throwIfAborted() } catch (e) { return [said, e.name, c.signal.aborted] }',
  'return [new Date(0).toString().slice(0, 33), new Date(2024, 0, 1).getTimezoneOffset()]',
  'return [URL.canParse("x"), URL.parse("x"), new URL("//b/../c?d=1#e", "https://a").href, String(new URLSearchParams({ q: "a&b" }))]',
  'return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())',
  'try { crypto.getRandomValues(new Float32Array(1)) } catch (e) { return e instanceof Error }',
  'return Object.groupBy([1, 2, 3], (n) => (n % 2 ? "odd" : "even"))',
  'return [[3, 1, 2].toSorted(), [1, 2].at(-1), "a-b".replaceAll("-", "+"), new Set([1, 2]).union(new Set([3])).size, [..."😀a"].length]',
  'return ["Straße".toUpperCase(), "I".toLowerCase(), "e\\u0301".normalize("NFC").length, /\\p{L}+/u.exec("-été-")[0]]',
];

test('every program has the same result as in Node', async () => {
  const skill = bench.skill({
    entry: 'skill.js',
    source:
      'export const execute = ({ programs }) => Promise.all(programs.map((text) => new Function("return (async () => {" + text + "})()")()));',
  });
  const expected: unknown[] = [];
  const zone = process.env['TZ'];
  process.env['TZ'] = 'UTC';
  for (const text of PROGRAMS)
    expected.push(await (runInThisContext(`(async () => {${text}\n})()`) as Promise<unknown>));
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
  const { result } = await bench.succeed(skill, { programs: PROGRAMS });
  const answers = result as unknown[];
  for (const [at, text] of PROGRAMS.entries())
    expect([text, answers[at]]).toEqual([text, JSON.parse(JSON.stringify(expected[at]))]);
});
