#!/usr/bin/env node
/**
 * The command. Starts on any Node that supports ES modules, and hands over to a recent one if the
 * current one is too old.
 *
 * @module
 */
import { existsSync, readFileSync } from 'fs';
import { fileURLToPath } from 'url';
import { runsHere } from './oldest-node.js';

/** The exit code of `internal`: a defect in Skillcell. A hook must block then, and agents block only on 2. */
const INTERNAL = process.argv[2] === 'hook' ? 2 : 70;

/** The first error while writing output. */
let outputError;

/** Streams that a command closed because no one read them. Node reopens them immediately, so `destroyed` does not show it. */
const closedStreams = new Set();

// If the event loop runs empty before a command has ended, that is not a success.
process.exitCode = INTERNAL;
start(process.argv.slice(2)).then(
  (code) => exitWith(code),
  (error) => {
    console.error('Skillcell could not start. This is a defect in Skillcell: please report it.', error);
    return exitWith(INTERNAL);
  },
);

/**
 * Exits explicitly, because timers left behind by an in_process skill would keep the process alive. Flushes first, so that
 * no output is lost in a pipe.
 */
async function exitWith(code) {
  await Promise.all([process.stdout, process.stderr].map(flush));
  if (outputError === undefined) process.exit(code);
  console.error(`Skillcell could not write its output: ${outputError.message}`);
  process.exit(code || INTERNAL);
}

/** EPIPE is not a failure: a reader such as `head` may stop early. */
function watchOutput() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (error.code !== 'EPIPE') outputError = outputError || error;
    });
    stream.on('close', () => closedStreams.add(stream));
  }
}

/** Also resolves if the reader is gone. */
function flush(stream) {
  return new Promise((resolve) => {
    if (closedStreams.has(stream) || stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

/** The version needs neither a recent Node nor any of our code. */
async function start(args) {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) return printVersion();
  return runsHere() || isBuiltHook(args) ? runInPlace(args) : handOver(args);
}

/** An agent waits for the hook, and starting a second Node would double the time. The build of the hook runs on every Node. */
function isBuiltHook(args) {
  return args[0] === 'hook' && !existsSync(new URL('../src/cli/main.ts', import.meta.url));
}

function printVersion() {
  watchOutput();
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  process.stdout.write(`${JSON.parse(text).version}\n`);
  return 0;
}

async function handOver(args) {
  const { runOnRecentNode } = await import('./hand-over.js');
  const { PARENT_VARIABLE, watchParent } = await import('./parent-watch.js');
  watchParent();
  return runOnRecentNode([fileURLToPath(import.meta.url), ...args], {
    env: { [PARENT_VARIABLE]: String(process.pid) },
  });
}

async function runInPlace(args) {
  watchOutput();
  const { watchParent } = await import('./parent-watch.js');
  watchParent();
  const { useCompileCache } = await import('./compile-cache.js');
  useCompileCache();
  // A clone runs from source. A published package has only the build, because Node strips no types below node_modules.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const build = new URL('../dist/src/cli/main.js', import.meta.url);
  const { main } = await import(existsSync(source) ? source.href : build.href);
  return main(args);
}
