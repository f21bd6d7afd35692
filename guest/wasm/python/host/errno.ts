/**
 * Error numbers of the engine's C library, which are those of WASI.
 *
 * @module
 */
import { errnoOf } from '../../wasi/codes.ts';

export const ERRNO = {
  ACCES: 2,
  AFNOSUPPORT: 5,
  BADF: 8,
  CHILD: 12,
  FAULT: 21,
  INVAL: 28,
  MFILE: 33,
  NETUNREACH: 40,
  NOENT: 44,
  NOSYS: 52,
  NOTCONN: 53,
  NOTDIR: 54,
  NOTSOCK: 57,
  NOTTY: 59,
  PERM: 63,
  RANGE: 68,
  SPIPE: 70,
} as const;

/** Runs a WASI function: 0, or the error number. */
export function wasi(act: () => void): number {
  try {
    act();
    return 0;
  } catch (error) {
    return errnoOf(error);
  }
}

/** Runs a system call: what it returns, or the negative error number. */
export function syscall(act: () => number | void): number {
  try {
    return act() ?? 0;
  } catch (error) {
    return -errnoOf(error);
  }
}
