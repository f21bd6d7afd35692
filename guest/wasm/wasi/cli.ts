/**
 * `wasi:cli`: the granted environment, the input of the call, capped output, no terminal.
 *
 * @module
 */
import { GuestEnd, type HostFunction, type HostInterfaces } from '../contract.ts';
import { type Call, currentCall, type Slot } from './call.ts';
import { asRecord, asU32 } from './check.ts';
import { InputStream, OutputStream } from './streams.ts';

const DEFAULT_ARGS: readonly string[] = ['skill'];

export function argumentsOf(call: Call): readonly string[] {
  return call.options.args ?? DEFAULT_ARGS;
}

export function environmentOf(call: Call): [string, string][] {
  return Object.entries(call.options.env ?? {});
}

export function cliInterfaces(slot: Slot): HostInterfaces {
  const noTerminal: HostFunction = { call: () => undefined };
  return {
    'wasi:cli/environment': {
      'get-environment': { call: () => environmentOf(currentCall(slot)) },
      'get-arguments': { call: () => argumentsOf(currentCall(slot)) },
      'initial-cwd': { call: () => undefined },
    },
    'wasi:cli/exit': {
      exit: { call: (status) => exit('err' in asRecord(status) ? 1 : 0) },
      'exit-with-code': { call: (code) => exit(asU32(code)) },
    },
    'wasi:cli/stdin': { 'get-stdin': { call: () => stdin(currentCall(slot)) } },
    'wasi:cli/stdout': { 'get-stdout': { call: () => output(currentCall(slot), 'stdout') } },
    'wasi:cli/stderr': { 'get-stderr': { call: () => output(currentCall(slot), 'stderr') } },
    'wasi:cli/terminal-input': {},
    'wasi:cli/terminal-output': {},
    'wasi:cli/terminal-stdin': { 'get-terminal-stdin': noTerminal },
    'wasi:cli/terminal-stdout': { 'get-terminal-stdout': noTerminal },
    'wasi:cli/terminal-stderr': { 'get-terminal-stderr': noTerminal },
  };
}

function exit(code: number): never {
  throw new GuestEnd('exit', String(code));
}

function stdin(call: Call): InputStream {
  return new InputStream(call, { read: (length) => call.readStdin(length) });
}

function output(call: Call, stream: 'stdout' | 'stderr'): OutputStream {
  return new OutputStream(call, { write: (bytes) => call.write(stream, bytes) });
}
