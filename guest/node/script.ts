/**
 * Runs a script as `node FILE` would, with the same preparation as a skill, so that denials can be explained. The result is
 * the exit status of this process and what it printed.
 *
 * @module
 */
import fs from 'node:fs';
import Module from 'node:module';
import { inspect } from 'node:util';
import { Closed, receive, send, waitForTheEnd } from './channel.ts';
import { limitBehind } from './failure.ts';
import { prepareCell } from './prepare.ts';
import type { ScriptInit, StartFields, ToSingleUse } from '../protocol.ts';

const STDIN_FILE = '/tmp/.stdin';

function main(): void {
  send({ t: 'ready' });
  const init = receive() as ScriptInit & StartFields;
  prepareCell(init);
  if (init.preload) send({ t: 'loaded' });
  const { params, command } = receive() as ToSingleUse['call'];
  if (command?.start.run !== 'file') throw new TypeError('A script of Node is a file');
  setStdin((params as { stdin?: string }).stdin ?? '');
  process.on('uncaughtExceptionMonitor', reportLimit);
  process.argv = [process.execPath, command.start.path, ...command.args];
  process.execArgv = [];
  (Module as unknown as { runMain: (path: string) => void }).runMain(command.start.path);
}

/** An error of the script's own is for Node: it prints it and ends with 1. One behind which is a limit ends the call. */
function reportLimit(error: unknown): void {
  const isHandled =
    process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
  const limit = isHandled ? undefined : limitOf(error);
  if (limit === undefined) return;
  fs.writeSync(2, `${inspect(error)}\n`);
  send({ t: 'error', type: 'Limit', message: '', trace: '', limit });
  waitForTheEnd();
}

/** A script can throw any value, and its getters can run any code. */
function limitOf(error: unknown): string | undefined {
  try {
    return limitBehind(error);
  } catch {
    return undefined;
  }
}

/** Node cannot duplicate a descriptor, but the lowest free number is used next. */
function setStdin(text: string): void {
  if (text === '') return;
  fs.writeFileSync(STDIN_FILE, text, { mode: 0o600, flag: 'wx' });
  fs.closeSync(0);
  fs.openSync(STDIN_FILE, 'r');
  fs.unlinkSync(STDIN_FILE);
}

try {
  main();
} catch (error) {
  if (!(error instanceof Closed)) throw error;
}
