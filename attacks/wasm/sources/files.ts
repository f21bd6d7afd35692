/**
 * Commands that try to access files they were not granted. Each ends with the errno that it got.
 *
 * @module
 */
import {
  at,
  BUFFER,
  BUNDLE_DIR,
  command,
  constants,
  CREATE,
  DIRECTORY,
  PATH,
  RIGHT_READ,
  RIGHT_SET_SIZE,
  RIGHT_WRITE,
  SECOND_PATH,
  TRUNCATE,
  WORKSPACE_DIR,
} from './command.ts';

interface OpenOptions {
  dir?: number;
  flags?: number;
  rights?: number;
}

function open(path: string, options: OpenOptions = {}, place: number = PATH): string {
  const { dir = WORKSPACE_DIR, flags = 0, rights = RIGHT_READ } = options;
  return `(call $open (i32.const ${dir}) ${at(place, path)} (i32.const ${flags}) (i64.const ${rights}))`;
}

function reads(path: string, options: OpenOptions = {}): string {
  return command(`(call $read_and_report ${open(path, options)})`, { path });
}

/** Opens a file and, if that worked, writes what the setting looks for. */
function writes(path: string, options: OpenOptions = {}): string {
  const body = `(call $must (call $print ${open(path, { rights: RIGHT_WRITE, ...options })} ${at(SECOND_PATH, 'planted')})) (call $succeed)`;
  return command(body, { path, secondPath: 'planted' });
}

/** A call with a directory and one path. */
function acts(call: string, path: string, dir: number = WORKSPACE_DIR): string {
  return command(`(call $must (call $${call} (i32.const ${dir}) ${at(PATH, path)})) (call $succeed)`, {
    path,
  });
}

function renames(from: string, to: string): string {
  const body = `(call $must (call $path_rename ${constants(WORKSPACE_DIR)} ${at(PATH, from)}
    ${constants(WORKSPACE_DIR)} ${at(SECOND_PATH, to)})) (call $succeed)`;
  return command(body, { path: from, secondPath: to });
}

/** Creates a hard link in the workspace and reads it. */
function links(from: string, fromDir: number): string {
  const body = `(call $must (call $path_link ${constants(fromDir, 0)} ${at(PATH, from)} ${constants(WORKSPACE_DIR)}
    ${at(SECOND_PATH, 'hard')})) (call $read_and_report ${open('hard', {}, SECOND_PATH)})`;
  return command(body, { path: from, secondPath: 'hard' });
}

const symlinks = (target: string): string =>
  command(
    `(call $must (call $path_symlink ${at(PATH, target)} ${constants(WORKSPACE_DIR)} ${at(SECOND_PATH, 'out')}))
     (call $read_and_report ${open('out', {}, SECOND_PATH)})`,
    { path: target, secondPath: 'out' },
  );

/** Holds a handle of a directory while the host replaces it with a link, then reads through handle and name. */
const swap = command(
  `(local.set $fd ${open('data', { flags: DIRECTORY })})
   (drop (call $open ${constants(WORKSPACE_DIR)} ${at(SECOND_PATH, 'ready')} (i32.const ${CREATE}) (i64.const ${RIGHT_WRITE})))
   (block $swapped (loop $wait
     (br_if $swapped (i32.eqz (call $path_filestat_get ${constants(WORKSPACE_DIR, 0)} ${at(SECOND_PATH + 16, 'swapped')} (i32.const 4096))))
     (call $sleep (i64.const 10000000)) (br $wait)))
   (if (i32.eqz (call $path_open (local.get $fd) (i32.const 1) ${at(SECOND_PATH + 32, 'secret.txt')} (i32.const 0)
     (i64.const ${RIGHT_READ}) (i64.const ${RIGHT_READ}) (i32.const 0) (i32.const 12)))
     (then (call $read_and_report (i32.load (i32.const 12))) (return)))
   (call $read_and_report ${open('data/secret.txt', {}, SECOND_PATH + 48)})`,
  {
    path: 'data',
    secondPath: ['ready', 'swapped', 'secret.txt', 'data/secret.txt']
      .map((one) => one.padEnd(16, '\0'))
      .join(''),
  },
);

const leaveFile = command(
  `(if (i32.eqz (call $path_filestat_get ${constants(BUNDLE_DIR, 0)} ${at(PATH, 'left')} (i32.const 4096)))
     (then (call $succeed) (return)))
   (drop ${open('left', { dir: BUNDLE_DIR, flags: CREATE, rights: RIGHT_WRITE })}) (call $fail)`,
  { path: 'left' },
);

/** Reads every number that might be a descriptor of the host, until one starts like a user list. */
const forgedDescriptors = command(
  `(local.set $i (i32.const 5))
   (block $found (loop $next
     (if (i32.eqz (call $read (local.get $i)))
       (then (br_if $found (i32.eq (i32.load8_u (i32.const ${BUFFER})) (i32.const 114)))))
     (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 64))))
     (call $must (i32.const 8)))
   (call $report (i32.const ${BUFFER}) (i32.load (i32.const 8)))`,
);

const openMany = command(
  `(loop $more (drop ${open('data', { flags: DIRECTORY })})
     (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 400)))) (call $succeed)`,
  { path: 'data' },
);

const FILE = 'big';
const bigFile = (body: string): string =>
  command(
    `(local.set $fd ${open(FILE, { flags: CREATE, rights: RIGHT_WRITE + RIGHT_SET_SIZE })}) ${body} (call $succeed)`,
    { path: FILE, memory: '20' },
  );

export const FILE_PROGRAMS: Readonly<Record<string, string>> = {
  climb_out: reads('../secret.txt'),
  climb_out_in_the_middle: reads('data/../../secret.txt'),
  climb_out_of_bundle: reads('../../../../../../../../etc/passwd', { dir: BUNDLE_DIR }),
  open_absolute_path: reads('/etc/passwd'),
  open_proc: reads('/proc/self/environ'),
  open_path_with_nul: reads('../secret.txt\0.txt'),
  open_path_with_backslash: reads('..\\secret.txt'),
  open_endless_path: reads('a/'.repeat(600)),
  open_link: reads('link'),
  open_below_link: reads('link/secret.txt'),
  open_fifo: reads('fifo'),
  read_link_target: command(
    `(call $must (call $path_readlink ${constants(WORKSPACE_DIR)} ${at(PATH, 'link')} ${constants(BUFFER, 200, 8)}))
     (call $report (i32.const ${BUFFER}) (i32.load (i32.const 8)))`,
    { path: 'link' },
  ),
  write_through_link: writes('link/report.txt', { flags: CREATE }),
  swap_directory: swap,
  make_symlink: symlinks('../secret.txt'),
  make_absolute_symlink: symlinks('/etc/passwd'),
  hard_link_from_outside: links('../secret.txt', WORKSPACE_DIR),
  hard_link_from_link: links('link', WORKSPACE_DIR),
  rename_out: renames('data/report.txt', '../stolen.txt'),
  rename_in: renames('../secret.txt', 'stolen.txt'),
  rename_over_preopen: renames('data', '.'),
  rename_preopen: renames('.', 'moved'),
  remove_preopen: acts('path_remove_directory', '.'),
  remove_outside: acts('path_unlink_file', '../secret.txt'),
  make_directory_outside: acts('path_create_directory', '../planted'),
  truncate_read_only: command(`(drop ${open('data/report.txt', { flags: TRUNCATE })}) (call $succeed)`, {
    path: 'data/report.txt',
  }),
  set_size_read_only: command(
    `(call $must (call $fd_filestat_set_size ${open('data/report.txt')} (i64.const 0))) (call $succeed)`,
    { path: 'data/report.txt' },
  ),
  write_read_only: writes('data/report.txt'),
  write_by_read_handle: writes('data/report.txt', { rights: RIGHT_READ }),
  create_read_only: writes('planted.txt', { flags: CREATE }),
  unlink_read_only: acts('path_unlink_file', 'data/report.txt'),
  write_bundle: writes('planted.txt', { dir: BUNDLE_DIR, flags: CREATE }),
  leave_file_for_next_call: leaveFile,
  forge_descriptors: forgedDescriptors,
  open_many_files: openMany,
  fill_quota:
    bigFile(`(loop $more (call $must (call $print (local.get $fd) (i32.const ${BUFFER}) (i32.const 1048576)))
    (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 16))))`),
  grow_file_beyond_quota: bigFile(
    '(call $must (call $fd_filestat_set_size (local.get $fd) (i64.const 16777216)))',
  ),
  write_far_beyond_quota: bigFile(
    `(i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 1))
     (call $must (call $fd_pwrite (local.get $fd) (i32.const 0) (i32.const 1) (i64.const 1099511627776) (i32.const 8)))`,
  ),
};
