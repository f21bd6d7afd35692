/**
 * The C functions of the engine that we call. A `Value` is the address of a box in the guest's memory that holds a
 * JavaScript value; the caller owns boxes returned by these functions, unless noted otherwise.
 *
 * @module
 */
/* oxlint-disable max-params -- the C library decides how many there are */
export type Pointer = number;
export type Value = Pointer;

export interface EngineExports {
  memory: WebAssembly.Memory;
  _initialize: () => void;
  /** 0 on success. */
  qjs_init: () => number;
  qjs_set_max_stack_size: (bytes: number) => void;
  qjs_set_module_loader: (enabled: number) => void;
  qjs_set_promise_rejection_handler: (enabled: number) => void;
  qjs_eval: (code: Pointer, bytes: number, name: Pointer, flags: number) => Value;
  qjs_call: (callee: Value, self: Value, count: number, args: Pointer) => Value;
  /** Calls of it arrive at `env.host_call` with this name. */
  qjs_new_host_function: (name: Pointer, bytes: number, parameters: number) => Value;
  qjs_get_global: () => Value;
  qjs_get_undefined: () => Value;
  qjs_new_object: () => Value;
  qjs_get_prop_string: (object: Value, name: Pointer) => Value;
  qjs_set_prop_string: (object: Value, name: Pointer, value: Value) => void;
  qjs_new_number: (value: number) => Value;
  qjs_get_float64: (value: Value) => number;
  /** Copies UTF-8. */
  qjs_new_string: (text: Pointer, bytes: number) => Value;
  qjs_is_string: (value: Value) => number;
  /** UTF-8, to be released with `qjs_free_cstring`; 0 if there is no memory. */
  qjs_get_string_len: (value: Value, length: Pointer) => Pointer;
  qjs_free_cstring: (text: Pointer) => void;
  /** Copies. */
  qjs_new_uint8_array: (bytes: Pointer, length: number) => Value;
  qjs_get_typed_array_buffer: (array: Value, offset: Pointer, length: Pointer, itemBytes: Pointer) => Value;
  qjs_get_array_buffer: (buffer: Value, length: Pointer) => Pointer;
  qjs_get_value_ptr: (value: Value) => Pointer;
  qjs_is_exception: (value: Value) => number;
  /** Takes the exception that a function has just thrown. */
  qjs_get_exception: () => Value;
  qjs_throw: (error: Value) => void;
  qjs_new_error: () => Value;
  qjs_dup_value: (value: Value) => Value;
  qjs_free_value: (value: Value) => void;
  qjs_is_job_pending: () => number;
  /** Negative if the job threw an exception. */
  qjs_execute_pending_job: () => number;
  wasm_malloc: (bytes: number) => Pointer;
  wasm_free: (address: Pointer) => void;
}

/** `JS_EVAL_TYPE_MODULE` */
export const EVAL_MODULE = 1;
