/**
 * The errors of transfers.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote, shortLine } from '../../manifest/quote.ts';

/** The server did or wants something that we do not take part in. */
export function refused(what: string, reason: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('untrusted', `Refused to transfer ${what}: ${reason}`, {
    fix: 'Check the address. If it is right, ask whoever runs this server to correct its answers, or use another server.',
    detail: { reason, ...detail },
  });
}

/** The server, or the way to it, does not work now. */
export function unreachable(what: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('skill_unavailable', `Could not transfer ${what}: ${reason}`, {
    fix: 'Check the address and the network (HTTPS_PROXY and NO_PROXY are honoured), and try again.',
    detail: { reason },
    cause,
  });
}

/** More bytes, or fewer, than announced or allowed. */
export function wrongSize(what: string, reason: string): SkillError {
  return new SkillError('manifest_invalid', `Refused ${what}: ${reason}`, {
    fix: 'Ask the publisher for a smaller or repaired version, or use another server.',
    detail: { reason },
  });
}

export function wrongDigest(what: string, expected: string, found: string): SkillError {
  return new SkillError(
    'manifest_drift',
    `The bytes of ${what} are not the expected ones: their digest is ${found}, and it must be ${expected}`,
    {
      fix: 'Do not use them. Try again or use another server; if it persists, somebody changed them: ask the publisher.',
      detail: { expected, found },
    },
  );
}

export function interrupted(what: string): SkillError {
  return new SkillError('cancelled', `The transfer of ${what} was cancelled`, { fix: 'Start it again.' });
}

const STATUS_FIXES: Readonly<Record<number, string>> = {
  401: 'Sign in to the server with `docker login`, whose credentials Skillcell reads.',
  403: 'Sign in to the server with an account that may do this, or ask its owner for access.',
  404: 'Check the name and the version. Some servers also answer this if you are not signed in.',
  429: 'Wait, and try again: the server limits how many requests you may send.',
};

/** An answer that is not a success. The text of the server is shown as a quotation. */
export function badStatus(what: string, status: number, body: Buffer = Buffer.alloc(0)): SkillError {
  const said = shortLine(body.toString('utf8', 0, 2048).trim());
  return new SkillError(
    'skill_unavailable',
    `Could not transfer ${what}: the server answered ${status}${said === '' ? '' : `, ${quote(said)}`}`,
    {
      fix: STATUS_FIXES[status] ?? 'Try again later, or ask whoever runs the server.',
      detail: { status, said },
    },
  );
}
