/**
 * Attacks on host files, starting from a granted directory.
 *
 * @module
 */
import { group, type Draft, type Scene, type WasmAttack } from '../attack.ts';

const granting = (access: string, max_bytes?: string) => () => ({
  capabilities: { filesystem: [{ path: '${workspace}', access, ...(max_bytes ? { max_bytes } : {}) }] },
});
const WRITABLE = { manifest: granting('read-write') };
const READABLE = { manifest: granting('read') };
const SMALL = { manifest: granting('read-write', '1MiB') };

const toSecret = ({ setting }: Scene): string => setting.params.secret_file;
const link = (target: string) => ({ links: () => ({ link: target }) });
const DENIED: Draft = { codes: ['capability_denied'] };
const ONLY_WINDOWS = { none: 'Only Windows hosts treat a backslash as a separator.' };

const escapes = group(
  { codes: ['skill_error'], ...WRITABLE },
  {
    climb_out: ['Opens a file above the granted directory.', DENIED],
    climb_out_in_the_middle: ['Climbs more directories than it descended.', DENIED],
    climb_out_of_bundle: ['Climbs from the bundle to the root of the host.', DENIED],
    open_absolute_path: ['Opens an absolute path.', DENIED],
    open_proc: ['Opens the environment of the host process in /proc.', DENIED],
    open_path_with_nul: 'Hides the end of a path behind a NUL.',
    open_path_with_backslash: ['Climbs out with a backslash.', { control: ONLY_WINDOWS }],
    open_endless_path: [
      'Opens a path of hundreds of directories.',
      { control: { none: 'A careless host only walks it.' } },
    ],
    open_relative_link: [
      'Follows a link that leads out.',
      { program: 'open_link', ...link('../secret.txt') },
    ],
    open_absolute_link: [
      'Follows a link to an absolute path.',
      { program: 'open_link', links: (scene) => ({ link: toSecret(scene) }) },
    ],
    open_chain_of_links: [
      'Follows a link to a link that leads out.',
      { program: 'open_link', links: () => ({ link: 'second', second: '../secret.txt' }) },
    ],
    open_below_link: ['Follows a link to a directory outside, in the middle of a path.', link('..')],
    open_below_absolute_link: [
      'The same with an absolute link.',
      { program: 'open_below_link', links: ({ setting }) => ({ link: setting.dir }) },
    ],
    read_link_target: [
      'Reads the target of a link, which is a host path.',
      { links: ({ setting }) => ({ link: `/home/${setting.secret}` }), control: { none: 'Set by hand.' } },
    ],
    write_through_link: ['Writes to a directory outside through a link.', link('..')],
    swap_directory: ['Holds a directory while the host replaces it with a link.', { swap: true }],
    make_symlink: ['Creates a link that leads out and follows it.', DENIED],
    make_absolute_symlink: ['Creates a link to an absolute path and follows it.', DENIED],
    hard_link_from_outside: ['Creates a hard link to a file outside.', DENIED],
    hard_link_from_link: ['Creates a hard link to the target of a link.', link('../secret.txt')],
    rename_out: ['Moves a file out of the granted directory.', DENIED],
    rename_in: ['Moves a file of the host into the granted directory.', DENIED],
    rename_over_preopen: ['Replaces the granted directory.', { control: { none: 'The kernel refuses it.' } }],
    rename_preopen: ['Moves the granted directory.', { control: { none: 'The kernel refuses it.' } }],
    remove_preopen: 'Removes the granted directory.',
    remove_outside: ['Removes a file outside.', DENIED],
    make_directory_outside: ['Creates a directory outside.', DENIED],
    forge_descriptors: 'Reads descriptors that it never opened.',
    open_fifo: [
      'Opens a pipe on which the host would wait forever.',
      { fifos: ['fifo'], control: { judge: 'hangs' } },
    ],
  },
);

const CODES_READ_ONLY = ['capability_denied', 'skill_error'] as const;
const readOnly = group(
  { codes: CODES_READ_ONLY, ...READABLE },
  {
    truncate_read_only: 'Truncates a file of a directory that it may only read.',
    set_size_read_only: 'Shrinks a file through a read-only handle.',
    write_read_only: 'Writes a file of a directory that it may only read.',
    create_read_only: 'Creates a file in a directory that it may only read.',
    unlink_read_only: 'Removes a file of a directory that it may only read.',
    write_bundle: 'Creates a file in its own bundle.',
    leave_file_for_next_call: ['Leaves a file for the next call.', { calls: 2, manifest: () => ({}) }],
    write_by_read_handle: [
      'Writes through a handle that was opened for reading.',
      { ...WRITABLE, control: { none: 'The kernel refuses it.' } },
    ],
  },
);

const quotas = group(
  { codes: ['skill_error'], ...SMALL },
  {
    fill_quota: 'Writes more than max_bytes allows.',
    grow_file_beyond_quota: 'Grows a file beyond max_bytes without writing it.',
    write_far_beyond_quota: [
      'Writes one byte far beyond the end of a file.',
      { control: { none: 'The control room has its own limit.' } },
    ],
  },
);

const handles = group(
  // The program gets the error for too many open files, as on any other system.
  { codes: ['skill_error'], ...READABLE },
  { open_many_files: 'Opens files and never closes them.' },
);

export const FILE_ATTACKS: readonly WasmAttack[] = [...escapes, ...readOnly, ...quotas, ...handles];
