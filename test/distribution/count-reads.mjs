/**
 * Loaded with `--import` into a command and its threads: writes the path of every file that is opened for reading below
 * the folder in COUNT_READS_BELOW to the file in COUNT_READS_IN.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const { appendFileSync, readlinkSync, openSync, readFileSync, createReadStream } = fs;
const open = fs.promises.open;
const below = process.env['COUNT_READS_BELOW'];
const log = process.env['COUNT_READS_IN'];

function note(path, flags) {
  if (typeof path === 'number' || /[wa+]/.test(String(flags ?? 'r'))) return;
  // A path through an open folder.
  const real = String(path).replace(/^\/proc\/self\/fd\/\d+/, (link) => readlinkSync(link));
  if (real.startsWith(`${below}/`)) appendFileSync(log, `${real}\n`);
}

fs.openSync = (path, flags, ...rest) => {
  const fd = openSync(path, flags, ...rest);
  if (fs.fstatSync(fd).isFile()) note(path, typeof flags === 'number' ? (flags & 3 ? 'w' : 'r') : flags);
  return fd;
};
fs.readFileSync = (path, ...rest) => {
  note(path);
  return readFileSync(path, ...rest);
};
fs.createReadStream = (path, ...rest) => {
  note(path);
  return createReadStream(path, ...rest);
};
fs.promises.open = (path, flags, ...rest) => {
  note(path, flags);
  return open(path, flags, ...rest);
};
// Threads get neither the arguments nor the environment of the command.
threads.Worker = class extends threads.Worker {
  constructor(url, options) {
    super(url, {
      ...options,
      execArgv: [`--import=${import.meta.url}`],
      env: { COUNT_READS_BELOW: below, COUNT_READS_IN: log },
    });
  }
};
syncBuiltinESMExports();
