/**
 * Recognizes why a container failed to start from the runtime's error output. Each cause has its own fix.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { LaunchFault } from '../../contract.ts';

interface Cause {
  pattern: RegExp;
  fault: LaunchFault;
}

/** Most specific patterns first. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /exec format error/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The image is for another processor architecture',
      fix: 'Build or fetch the image for this architecture (`skillcell doctor` shows it).',
    },
  },
  {
    pattern: /no space left on device|disk quota exceeded/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The disk is full: the container could not be set up',
      fix: "Free disk space for Skillcell's home folder and the container engine.",
    },
  },
  {
    pattern:
      /executable file .*not found|no such file or directory.*(?:exec|executable)|exec[^\n]*(?:no such file or directory|not found|permission denied)|open executable: no such file/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The program to run is missing from the image or is not executable',
      fix: 'Check the entry point of the image and the permissions of the program; a Python skill needs /usr/bin/python3 or /usr/local/bin/python3.',
    },
  },
  {
    pattern:
      /(?:cannot|can't|unable to) connect to the docker daemon|ECONNREFUSED|connection refused|EOF from the engine|socket hang up|ECONNRESET/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The container engine stopped responding',
      fix: 'Restart it, check it with `skillcell doctor`, and repeat the call.',
    },
  },
  {
    pattern: /no such image|image not known|manifest unknown/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The container engine does not have the image',
      fix: 'Build the image with `skillcell build`, or import it.',
    },
  },
];

const MAX_QUOTED_CHARACTERS = 300;

/** The engine died during a call. */
export function engineLostFault(reason: string): LaunchFault {
  return {
    code: 'skill_unavailable',
    message: `The container engine died during the call: ${reason}`,
    fix: 'Find out why it died, restart it if it is a service, and repeat the call.',
  };
}

/** Undefined if the logs match no known cause. */
export function launchFault(logs: string): LaunchFault | undefined {
  const cause = CAUSES.find(({ pattern }) => pattern.test(logs));
  if (!cause) return undefined;
  const line = logs.split('\n').find((one) => cause.pattern.test(one)) ?? logs;
  return {
    ...cause.fault,
    message: `${cause.fault.message}: ${line.trim().slice(0, MAX_QUOTED_CHARACTERS)}`,
  };
}

/** An image's contents are its author's responsibility, so a program in it that does not start is not our fault. */
export function notReadyFault(logs: string): LaunchFault {
  const lastLine = logs.trim().split('\n').at(-1)?.slice(0, MAX_QUOTED_CHARACTERS) ?? '';
  return {
    code: 'skill_unavailable',
    message: `The container exited before the skill could be called${lastLine === '' ? '' : `: ${lastLine}`}`,
    fix: "Check the program that the image starts: its Python or its entry point must work as the cell's user, with a read-only root.",
  };
}

/** Runs a setup step. On failure it undoes the step, and reports a full disk with a fix; other errors pass through. */
export function runSetUp<T>(work: () => T, undo: () => void = () => undefined): T {
  try {
    return work();
  } catch (error) {
    undo();
    const fault = isFull(error) ? launchFault(error.message) : undefined;
    throw fault ? new SkillError(fault.code, fault.message, { fix: fault.fix, cause: error }) : error;
  }
}

function isFull(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
