/**
 * Valid binaries that fuzzing starts from: core modules for every kind of instruction, and components.
 *
 * @module
 */
import { fixture, skillComponent, wat } from './binary/support.ts';
import { PROGRAMS } from './programs.ts';

const COMMAND = `(module
  (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1 2) (global (mut i64) (i64.const -5)) (table 2 funcref)
  (elem (i32.const 0) func $start) (data (i32.const 8) "hello") (tag (param i32))
  (func $start (export "_start") (drop (call 0 (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)))) (start $start))`;

export function corpus(): Uint8Array[] {
  return [
    ...Object.values(PROGRAMS).map(wat),
    wat(COMMAND),
    skillComponent(),
    fixture('hosted.wasm'),
    fixture('hosted.wasm'),
  ];
}
