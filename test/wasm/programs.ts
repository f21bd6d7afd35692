/**
 * Core modules that together use every kind of instruction that is metered differently.
 * Each exports `run`, which takes and returns an i32.
 *
 * @module
 */
export const PROGRAMS: Readonly<Record<string, string>> = {
  'next to nothing':
    '(module (func $same (param i32) (result i32) (local.get 0)) (func (export "run") (param i32) (result i32) (call $same (local.get 0))))',
  recursion: `(module (func $fib (export "run") (param i32) (result i32)
    (if (result i32) (i32.lt_u (local.get 0) (i32.const 2)) (then (local.get 0))
      (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2))))))))`,
  'nested loops': `(module (func (export "run") (param $n i32) (result i32) (local $i i32) (local $j i32) (local $sum i32)
    (loop $outer (local.set $j (i32.const 0))
      (loop $inner (local.set $sum (i32.add (local.get $sum) (i32.mul (local.get $i) (local.get $j))))
        (br_if $inner (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const 1))) (local.get $n))))
      (br_if $outer (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $sum)))`,
  'a switch': `(module (func (export "run") (param $n i32) (result i32) (local $acc i32)
    (loop $next (block $d (block $c (block $b (block $a (br_table $a $b $c $d (i32.and (local.get $n) (i32.const 3))))
      (local.set $acc (i32.add (local.get $acc) (i32.const 7))) (br $d))
      (local.set $acc (i32.mul (local.get $acc) (i32.const 3))) (br $d))
      (local.set $acc (i32.xor (local.get $acc) (i32.const 255))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $acc)))`,
  'bulk memory': `(module (memory 1 4) (data "hello") (func (export "run") (param $n i32) (result i32)
    (memory.fill (i32.const 64) (local.get $n) (i32.const 1000))
    (memory.copy (i32.const 100) (i32.const 64) (local.get $n))
    (memory.init 0 (i32.const 102) (i32.const 0) (i32.const 5)) (data.drop 0)
    (i32.add (i32.load (i32.const 102)) (memory.grow (i32.const 1)))))`,
  tables: `(module (table $t 4 8 funcref) (type $f (func (result i32))) (func $one (result i32) (i32.const 1)) (func $two (result i32) (i32.const 2))
    (elem $e func $one $two) (func (export "run") (param $n i32) (result i32)
    (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 2)) (table.copy (i32.const 2) (i32.const 0) (i32.const 2))
    (table.fill (i32.const 3) (ref.func $one) (i32.const 1)) (drop (table.grow (ref.func $two) (i32.const 2)))
    (i32.add (call_indirect (type $f) (i32.and (local.get $n) (i32.const 3))) (table.size $t))))`,
  exceptions: `(module (tag $e (param i32)) (func $throw (param i32) (throw $e (local.get 0)))
    (func (export "run") (param $n i32) (result i32) (local $sum i32)
    (loop $again (local.set $sum (i32.add (local.get $sum) (try (result i32) (do (call $throw (local.get $n)) (i32.const 1)) (catch $e) (catch_all (i32.const 9)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))`,
  'tail calls': `(module (func $count (export "run") (param i32) (result i32)
    (if (result i32) (i32.eqz (local.get 0)) (then (i32.const 77)) (else (return_call $count (i32.sub (local.get 0) (i32.const 1)))))))`,
  SIMD: `(module (memory 1 1) (func (export "run") (param i32) (result i32) (call $add (local.get 0)))
    (func $add (param i32) (result i32)
    (v128.store (i32.const 0) (i32x4.add (i32x4.splat (local.get 0)) (v128.const i32x4 1 2 3 4)))
    (i32x4.extract_lane 2 (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 (v128.load (i32.const 0)) (v128.const i32x4 0 0 0 0)))))`,
  'several values': `(module (func $swap (param i32 i32) (result i32 i32) (local.get 1) (local.get 0))
    (func (export "run") (param i32) (result i32) (call $swap (local.get 0) (i32.const 3)) (block (param i32 i32) (result i32) i32.sub)))`,
};
