/**
 * The acts as WebAssembly: WASI commands for files, time and output, components for requests.
 *
 * @module
 */
import { skillComponent } from '../../attacks/wasm/component.ts';
import { FETCH, type Interface } from '../../attacks/wasm/interfaces.ts';
import { command, forever } from '../../attacks/wasm/sources/command.ts';
import { allocator, main } from '../../attacks/wasm/sources/skill.ts';
import { HTTP_PROGRAMS } from '../../attacks/wasm/sources/http.ts';
import { FILE_PROGRAMS } from '../../attacks/wasm/sources/files.ts';
import { LIMIT_PROGRAMS } from '../../attacks/wasm/sources/limits.ts';
import { instanceType } from '../../src/build/wit/instance-type.ts';
import { SKILLS } from '../../src/build/wit/skills.ts';
import { wat } from '../../test/wasm/binary/support.ts';
import type { Op } from './acts.ts';
import type { Program } from './engines.ts';

/** Follows one redirect itself, as a library would, because the host follows none. */
const FETCH_AND_FOLLOW = main(
  `(call $get (i32.add (local.get $params) (i32.const 8)) (i32.sub (local.get $length) (i32.const 10)))
   (if (i32.load8_u (i32.const 1536)) (then (return (call $complain))))
   (local.set $i (i32.load (i32.const 1544)))
   (local.set $n (i32.add (local.get $i) (i32.mul (i32.load (i32.const 1548)) (i32.const 16))))
   (block $found (loop $next
     (br_if $found (i32.ge_u (local.get $i) (local.get $n)))
     (br_if $found (i32.eq (i32.load offset=4 (local.get $i)) (i32.const 8)))
     (local.set $i (i32.add (local.get $i) (i32.const 16))) (br $next)))
   (if (i32.ge_u (local.get $i) (local.get $n)) (then (return (call $fail))))
   (call $get (i32.load offset=8 (local.get $i)) (i32.load offset=12 (local.get $i)))
   (if (i32.load8_u (i32.const 1536)) (then (return (call $complain))))
   (call $succeed)`,
  {
    uses: ['fetch'],
    extra: `(data (i32.const 1024) "GET")
      (func $get (param $url i32) (param $size i32)
        (call $fetch (i32.const 1024) (i32.const 3) (local.get $url) (local.get $size)
          (i32.const 2048) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1536)))
      (func $complain (result i32)
        (call $answer (i32.const 1) (i32.load (i32.const 1540)) (i32.load (i32.const 1544))))`,
  },
);

const CALL: Interface = {
  name: SKILLS.id,
  type: (typeOf) => instanceType({ of: SKILLS, functions: ['call'], types: [] }, typeOf),
  functions: ['call'],
};

/** Calls the skill of `{"name":"…"}` without parameters, and fails with the message of a refusal. */
const CALL_SKILL = main(
  `(call $call (i32.add (local.get $params) (i32.const 9)) (i32.sub (local.get $length) (i32.const 11))
     (i32.const 1024) (i32.const 2) (i32.const 1536))
   (if (i32.load8_u (i32.const 1536))
     (then (return (call $answer (i32.const 1) (i32.load (i32.const 1548)) (i32.load (i32.const 1552))))))
   (call $answer (i32.const 0) (i32.load (i32.const 1540)) (i32.load (i32.const 1544)))`,
  { claims: { call: '(param i32 i32 i32 i32 i32)' }, extra: '(data (i32.const 1024) "{}")' },
);

/** Divides forever. A tighter loop may use up its fuel, which counts instructions, before its CPU time. */
const DIVIDE = command(
  forever(
    '(local.set $t (i64.div_u (i64.const -1) (i64.or (i64.rem_u (local.get $t) (i64.const 1000003)) (i64.const 3))))',
  ),
);

const COMMANDS = {
  read: FILE_PROGRAMS['climb_out'],
  write: FILE_PROGRAMS['write_bundle'],
  sleep: LIMIT_PROGRAMS['sleep_for_ever'],
  spin: DIVIDE,
  memory: LIMIT_PROGRAMS['grow_memory'],
  output: LIMIT_PROGRAMS['flood_stdout'],
} as const;

const NO_MEANS = {
  environment: 'a component receives all its variables at once and cannot request one',
  spawn: 'WASI has no processes',
  crowd: 'WASI has no processes',
  scratch: 'a component has no scratch space',
} as const;

export function componentFor(op: Op): Program {
  if (op.op === 'fetch') return fetching(op);
  if (op.op === 'call') return componentOf(CALL_SKILL, CALL, { name: op.name });
  if (op.op in NO_MEANS) return { none: NO_MEANS[op.op as keyof typeof NO_MEANS] };
  const text = COMMANDS[op.op as keyof typeof COMMANDS] ?? '';
  return { entry: 'skill.wasm', content: wat(text), params: {} };
}

function fetching({ method, url }: Op & { op: 'fetch' }): Program {
  const text = method === 'GET' ? FETCH_AND_FOLLOW : (HTTP_PROGRAMS['post_url'] ?? '');
  return componentOf(text, FETCH, { url });
}

function componentOf(text: string, imported: Interface, params: Record<string, unknown>): Program {
  const parts = { main: wat(text), allocator: wat(allocator()), imports: [imported] };
  return { entry: 'skill.wasm', content: skillComponent(parts), params };
}
