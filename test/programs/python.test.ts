/**
 * Programs in Python: plain calls, awaited calls and several at once; errors as exceptions; nothing left for the next one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome, Program, ProgramOptions } from '../../src/index.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { dedent } from '../write-skill.ts';
import { writeCommonSkills } from './skills-of-tests.ts';

const policy = parsePolicy('native_programs: true', { file: 'policy' });
const { runtime, folder, close } = openTestRuntime({ policy });
beforeAll(() => writeCommonSkills(folder));
afterAll(close);

const functions = { now: () => 7, add: (params: unknown) => (params as { a: number }).a + 1 };

function runAs(source: string, given: Partial<Program> = {}, options: ProgramOptions = {}): Promise<Outcome> {
  const program = {
    language: 'python',
    source: dedent(source),
    skills: ['math/*', 'text/echo', 'slow/forever'],
    functions,
    ...given,
  } as const;
  return runtime.program(program, { n: 21 }, { ...options, reject: false });
}

describe.each(['wasm', 'subprocess'] as const)('a program in Python, as %s', (execution) => {
  const run: typeof runAs = (source, given, options) => runAs(source, given, { execution, ...options });
  const resultOf = async (...args: Parameters<typeof run>): Promise<unknown> => {
    const outcome = await run(...args);
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
    return outcome.result;
  };

  test('gets its input, calls skills by both spellings, and returns a result', async () => {
    const source = `
      first = skills.math.double(n=input["n"])["n"]
      second = skills["math/double"]({"n": first})["n"]
      return [first, second, functions.now(), functions.add({}, a=1)]
    `;
    expect(await resultOf(source)).toEqual([42, 84, 7, 2]);
  });

  test('runs its own event loop, or awaits at the top', async () => {
    const own = `
      import asyncio
      async def main():
          return (await skills.math.double(n=1))["n"]
      return asyncio.run(main())
    `;
    expect(await resultOf(own)).toBe(2);
    expect(await resultOf('return (await skills.math.double(n=2))["n"]')).toBe(4);
  });

  test('calls several skills at once: gather, tasks, groups, and more than may run at a time', async () => {
    const source = `
      import asyncio
      many = await asyncio.gather(*[skills.math.double(n=n) for n in range(100)])
      async with asyncio.TaskGroup() as group:
          tasks = [group.create_task(skills.math.double(n=n)) for n in (5, 6)]
      task = asyncio.create_task(skills.math.double(n=7))
      done, _ = await asyncio.wait([task])
      return [sum(one["n"] for one in many), [one.result()["n"] for one in tasks], done.pop().result()["n"]]
    `;
    expect(await resultOf(source)).toEqual([9900, [10, 12], 14]);
  });

  test('may use a call that it forgot to await as its result', async () => {
    const source = `
      first = skills.math.double(n=1)
      second = skills.text.echo(value=first)
      await functions.now()
      return [first["n"], "n" in first, dict(first.items()), second, {"inside": skills.math.double(n=4)}]
    `;
    expect(await resultOf(source)).toEqual([2, true, { n: 2 }, { value: { n: 2 } }, { inside: { n: 8 } }]);
  });

  test('keeps its timers while calls run, and cancels a call with its task', async () => {
    const source = `
      import asyncio
      began = asyncio.get_running_loop().time()
      slow = asyncio.create_task(skills.slow.forever())
      await asyncio.sleep(0.05)
      try:
          await asyncio.wait_for(asyncio.shield(slow), 0.05)
      except TimeoutError:
          slow.cancel()
      for _ in range(3):
          await asyncio.sleep(0)
      return [slow.cancelled(), (await skills.math.double(n=1))["n"]]
    `;
    const outcome = await run(source);
    expect(outcome).toMatchObject({ ok: true, result: [true, 2] });
    expect(outcome.children).toContainEqual(
      expect.objectContaining({ skill: 'slow/forever', code: 'cancelled' }),
    );
  });

  test('sees results while it has work of its own', async () => {
    const source = `
      import asyncio
      task = asyncio.create_task(skills.math.double(n=3))
      while not task.done():
          await asyncio.sleep(0)
      return task.result()["n"]
    `;
    expect(await resultOf(source)).toBe(6);
  });

  test('catches errors with code, message and fix, plain and awaited, and goes on', async () => {
    const source = `
      caught = []
      for call in (lambda: skills.math.fail(), lambda: skills.math.double(), lambda: skills.web.none()):
          try:
              call()
          except SkillCallError as error:
              caught.append([error.code, str(error) == error.message, bool(error.fix)])
      return caught
    `;
    const expected = [
      ['skill_error', true, true],
      ['invalid_params', true, true],
      ['capability_denied', true, true],
    ];
    expect(await resultOf(source)).toEqual(expected);
    const awaited = source.replace('call()\n', 'await call()\n');
    expect(await resultOf(awaited)).toEqual(expected);
    const gathered = `
      import asyncio
      calls = [skills.math.fail(), skills.math.double(n=1), skills.math.double()]
      return [getattr(one, "code", one) for one in await asyncio.gather(*calls, return_exceptions=True)]
    `;
    expect(await resultOf(gathered)).toEqual(['skill_error', { n: 2 }, 'invalid_params']);
  });

  test('has receipts of its calls, and cancels those that it left', async () => {
    const outcome = await run(`
      import asyncio
      asyncio.create_task(skills.slow.forever())
      await asyncio.sleep(0)
      return (await skills.math.double(n=1))["n"]
    `);
    expect(outcome).toMatchObject({ ok: true, result: 2, skill: { name: 'program/python' } });
    expect(outcome.children?.map(({ skill, code }) => [skill, code]).toSorted()).toEqual([
      ['math/double', 'ok'],
      ['slow/forever', 'cancelled'],
    ]);
    for (const { call_id } of outcome.children ?? [])
      expect(runtime.audit.show(call_id)?.receipt).toMatchObject({ parent: outcome.call_id, depth: 1 });
  });

  test('reports an error at the line of the source, also if the source is not Python', async () => {
    expect(await run('x = 1\n\nraise ValueError("mine")')).toMatchObject({
      error: {
        code: 'skill_error',
        message: 'The skill raised ValueError: mine',
        fix: expect.stringContaining('program.py:3'),
      },
    });
    expect(await run('x = 1\nreturn 1 +')).toMatchObject({
      error: { code: 'skill_error', fix: expect.stringContaining('program.py:2') },
    });
  });

  test('may be empty, have imports of the future, and a body that only awaits inside of functions', async () => {
    expect(await resultOf('')).toBeNull();
    const source = `
      from __future__ import annotations
      def one(x: Unknown) -> None:
          async def two():
              await three()
          return 3
      return one(1)
    `;
    expect(await resultOf(source)).toBe(3);
  });

  test('leaves nothing behind for the next program', async () => {
    const spoils = `
      import builtins, asyncio, json
      builtins.kept = 1
      skills.__class__.kept = 1
      asyncio.kept = 1
      json.dumps = None
      asyncio.create_task = None
      return skills.math.double(n=1)["n"]
    `;
    expect(await run(spoils)).toMatchObject({ ok: true });
    const source = `
      import builtins, asyncio
      return [hasattr(x, "kept") for x in (builtins, asyncio, type(skills))] + [asyncio.create_task is None]
    `;
    expect(await resultOf(source)).toEqual([false, false, false, false]);
  });

  test('has no capability of its own: no files, no network, no variables, no skills but those it was given', async () => {
    const source = `
      import os, urllib.request
      tried = []
      for act in (lambda: open("/etc/passwd").read(), lambda: urllib.request.urlopen("http://127.0.0.1:9/")):
          try:
              act()
              tried.append("done")
          except OSError:
              tried.append("denied")
      try:
          skills.math.double(n=1)
      except SkillCallError as error:
          tried.append(error.code)
      return tried + [sorted(name for name in os.environ if "TEST" in name)]
    `;
    expect(await resultOf(source, { skills: [] })).toEqual(['denied', 'denied', 'capability_denied', []]);
  });

  test('that passes what JSON does not have learns which part it is', async () => {
    expect(await run('skills.text.echo(value={1, 2})')).toMatchObject({
      error: { message: expect.stringMatching(/of type set, which JSON does not have/) },
    });
    expect(await run('skills.text.echo("text")')).toMatchObject({ ok: false });
  });
});

describe('a native program in Python', () => {
  const run = (source: string): Promise<Outcome> => runAs(source, {}, { execution: 'subprocess' });

  test('calls from threads, and from several event loops at once', async () => {
    const source = `
      import asyncio, threading
      from concurrent.futures import ThreadPoolExecutor
      with ThreadPoolExecutor(8) as pool:
          plain = list(pool.map(lambda n: skills.math.double(n=n)["n"], range(40)))
      async def several(base):
          calls = [skills.math.double(n=base + n) for n in range(5)]
          other = asyncio.to_thread(lambda: skills.text.echo(base=base)["base"])
          return [one["n"] for one in await asyncio.gather(*calls)] + [await other]
      loops = {}
      threads = [threading.Thread(target=lambda n=n: loops.update({n: asyncio.run(several(n))})) for n in (10, 20, 30)]
      for thread in threads:
          thread.start()
      for thread in threads:
          thread.join()
      return [sum(plain), loops[10], loops[20], loops[30]]
    `;
    const doubled = (base: number): number[] => [0, 1, 2, 3, 4].map((n) => (base + n) * 2).concat(base);
    expect(await run(source)).toMatchObject({
      ok: true,
      result: [1560, doubled(10), doubled(20), doubled(30)],
    });
  });

  test('waits for calls beside what else its event loop waits for', async () => {
    const source = `
      import asyncio, os
      read, write = os.pipe()
      seen = asyncio.get_running_loop().create_future()
      asyncio.get_running_loop().add_reader(read, lambda: seen.done() or seen.set_result(os.read(read, 5).decode()))
      slow = asyncio.create_task(skills.slow.forever())
      await asyncio.sleep(0)
      os.write(write, b"hello")
      result = [await seen, (await skills.math.double(n=1))["n"]]
      slow.cancel()
      return result
    `;
    expect(await run(source)).toMatchObject({ ok: true, result: ['hello', 2] });
  });
});
