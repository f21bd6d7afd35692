/**
 * The Wasm host of a careless runtime: ambient authority, no limits, one instance for all calls, unchecked paths and
 * handles. It exists to show that attacks work.
 */
/* oxlint-disable max-params -- the parameters are those of WASI */
import { randomFillSync } from 'node:crypto';
import * as fs from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';

const { calls, swap = false } = JSON.parse(fs.readFileSync(0, 'utf8'));
const PREOPENS = { 3: '/skill', 4: '/workspace' };
const paths = new Map(Object.entries(PREOPENS).map(([fd, path]) => [Number(fd), path]));
const ERRNO = { EACCES: 2, EEXIST: 20, EINVAL: 28, EISDIR: 31, EMFILE: 33, ENOENT: 44, ENOTDIR: 54 };
let memory;
let stdout = [];

const view = () => new DataView(memory.buffer);
const bytes = (at, length) => new Uint8Array(memory.buffer, at >>> 0, length >>> 0);
const text = (at, length) => Buffer.from(bytes(at, length)).toString();
/** A host in C reads a path up to its first NUL. */
const path = (dir, at, length) => resolve(paths.get(dir) ?? '/', text(at, length).split('\0')[0]);

function vectors(list, count) {
  return Array.from({ length: count }, (_, index) => {
    const at = list + index * 8;
    return bytes(view().getUint32(at, true), view().getUint32(at + 4, true));
  });
}

function errno(act) {
  try {
    act();
    return 0;
  } catch (error) {
    return ERRNO[error.code] ?? 29;
  }
}

function write(fd, chunks) {
  const all = Buffer.concat(chunks);
  if (fd === 1) stdout.push(all);
  else if (fd === 2) fs.writeSync(2, all);
  else fs.writeSync(fd, all);
  return all.length;
}

function open(dir, at, length, flags, rights) {
  const name = path(dir, at, length);
  const wanted =
    (rights & 64n ? fs.constants.O_RDWR : fs.constants.O_RDONLY) |
    (flags & 1 ? fs.constants.O_CREAT : 0) |
    (flags & 8 ? fs.constants.O_TRUNC : 0);
  // A path, not a handle: whatever lies there when it is used.
  const fd = flags & 2 ? 100_000 + paths.size : fs.openSync(name, wanted);
  paths.set(fd, name);
  if (swap && name.endsWith('/ready')) swapDirectory();
  return fd;
}

/** What another process on the host does during the call. */
function swapDirectory() {
  fs.renameSync('/workspace/data', '/workspace/gone');
  fs.symlinkSync('..', '/workspace/data');
  fs.writeFileSync('/workspace/swapped', '');
}

const environment = () => Object.entries(process.env).map(([name, value]) => `${name}=${value}\0`);

const preview1 = {
  fd_write: (fd, list, count, out) =>
    errno(() => view().setUint32(out, write(fd, vectors(list, count)), true)),
  fd_read: (fd, list, count, out) =>
    errno(() => {
      const [first] = vectors(list, count);
      view().setUint32(out, fs.readSync(fd, first, 0, first.length, null), true);
    }),
  fd_close: (fd) => errno(() => fs.closeSync(fd)),
  fd_filestat_set_size: (fd, size) => errno(() => fs.truncateSync(paths.get(fd), Number(size))),
  fd_pwrite: (fd, list, count, offset, out) =>
    errno(() =>
      view().setUint32(
        out,
        fs.writeSync(fd, Buffer.concat(vectors(list, count)), 0, undefined, Number(offset)),
        true,
      ),
    ),
  path_open: (dir, _, at, length, flags, rights, __, ___, out) =>
    errno(() => view().setUint32(out, open(dir, at, length, flags, rights), true)),
  path_filestat_get: (dir, _, at, length) => errno(() => fs.statSync(path(dir, at, length))),
  path_symlink: (target, targetLength, dir, at, length) =>
    errno(() => fs.symlinkSync(text(target, targetLength), path(dir, at, length))),
  path_link: (dir, _, at, length, toDir, toAt, toLength) =>
    errno(() => fs.linkSync(path(dir, at, length), path(toDir, toAt, toLength))),
  path_rename: (dir, at, length, toDir, toAt, toLength) =>
    errno(() => fs.renameSync(path(dir, at, length), path(toDir, toAt, toLength))),
  path_create_directory: (dir, at, length) => errno(() => fs.mkdirSync(path(dir, at, length))),
  path_unlink_file: (dir, at, length) => errno(() => fs.unlinkSync(path(dir, at, length))),
  path_remove_directory: (dir, at, length) =>
    errno(() => fs.rmSync(path(dir, at, length), { recursive: true })),
  path_readlink: (dir, at, length, buffer, room, out) =>
    errno(() => {
      const target = Buffer.from(fs.readlinkSync(path(dir, at, length))).subarray(0, room);
      bytes(buffer, target.length).set(target);
      view().setUint32(out, target.length, true);
    }),
  environ_sizes_get: (count, size) => {
    view().setUint32(count, environment().length, true);
    view().setUint32(size, environment().join('').length, true);
    return 0;
  },
  environ_get: (_, buffer) => {
    const all = Buffer.from(environment().join(''));
    bytes(buffer, all.length).set(all);
    return 0;
  },
  clock_time_get: (_, __, out) => (view().setBigUint64(out, process.hrtime.bigint(), true), 0),
  random_get: (at, length) => (randomFillSync(bytes(at, length)), 0),
  poll_oneoff: (list) => {
    const milliseconds = Number(view().getBigUint64(list + 24, true)) / 1e6;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    return 0;
  },
  proc_exit: (code) => process.exit(code),
};

// --- components ---------------------------------------------------------------------------------------------

let realloc;
let handles = 0;

function put(chunk) {
  const at = realloc(0, 0, 1, chunk.length) >>> 0;
  bytes(at, chunk.length).set(chunk);
  return at;
}

function pairs(at, count) {
  const word = (index) => view().getUint32(at + index * 4, true);
  return Array.from(
    { length: count },
    (_, i) => `${text(word(i * 4), word(i * 4 + 1))}: ${text(word(i * 4 + 2), word(i * 4 + 3))}\r\n`,
  );
}

/** Sends requests unchecked, and follows every redirect. */
async function request(url, method, headers) {
  const { hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const answer = await exchange(
    { host, port: Number(port || 80) },
    `${method} ${pathname} HTTP/1.0\r\n${headers}${/^host:/im.test(headers) ? '' : `Host: ${host}\r\n`}\r\n`,
  );
  const location = /^location: (.*)\r$/im.exec(answer.split('\r\n\r\n', 1)[0])?.[1];
  return location ? request(location, method, '') : answer.slice(answer.indexOf('\r\n\r\n') + 4);
}

function exchange(where, message) {
  return new Promise((done, fail) => {
    const chunks = [];
    const socket = connect(where, () => socket.write(message));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => done(Buffer.concat(chunks).toString('latin1')));
    socket.on('error', fail);
  });
}

async function fetchUrl(method, methodLength, url, urlLength, list, count, _, __, out) {
  const headers = pairs(list, count).join('');
  const body = Buffer.from(await request(text(url, urlLength), text(method, methodLength), headers));
  const at = put(body);
  view().setUint8(out, 0);
  view().setUint32(out + 16, at, true);
  view().setUint32(out + 20, body.length, true);
}

const host = {
  log: (_, at, length) => void fs.writeSync(2, bytes(at, length)),
  fetch: new WebAssembly.Suspending(fetchUrl),
  exit: () => process.exit(0),
  'get-random-bytes': (length, out) => {
    const at = put(randomFillSync(Buffer.alloc(Number(length))));
    view().setUint32(out, at, true);
    view().setUint32(out + 4, Number(length), true);
  },
  'subscribe-duration': () => ++handles,
  now: () => process.hrtime.bigint(),
  'get-stdout': () => ++handles,
  '[method]pollable.block': () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  'drop-pollable': () => undefined,
  'drop-output-stream': () => undefined,
};

const load = (name) => new WebAssembly.Module(fs.readFileSync(`/skill/${name}.wasm`));

function component() {
  const env = new WebAssembly.Instance(load('allocator')).exports;
  memory = env.memory;
  realloc = env.cabi_realloc;
  const helper = fs.existsSync('/skill/helper.wasm') ? new WebAssembly.Instance(load('helper')).exports : {};
  const { execute } = new WebAssembly.Instance(load('main'), { env, host, helper }).exports;
  const run = WebAssembly.promising(execute);
  return async (params) => {
    const input = Buffer.from(params);
    const answer = (await run(put(input), input.length)) >>> 0;
    return text(view().getUint32(answer + 4, true), view().getUint32(answer + 8, true));
  };
}

function command() {
  const { exports } = new WebAssembly.Instance(load('skill'), { wasi_snapshot_preview1: preview1 });
  memory = exports.memory;
  const run = exports['_start'];
  return () => {
    stdout = [];
    run();
    return Buffer.concat(stdout).toString();
  };
}

const call = fs.existsSync('/skill/main.wasm') ? component() : command();
let answer = '';
for (const { given } of calls) answer = await call(JSON.stringify(given ?? {}));
const frame = Buffer.from(`{"t":"result","value":${answer}}`);
const header = Buffer.alloc(4);
header.writeUInt32LE(frame.length);
for (let rest = Buffer.concat([header, frame]); rest.length > 0;) rest = rest.subarray(fs.writeSync(3, rest));
process.exit(0);
