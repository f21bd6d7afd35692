/**
 * Who gets in: no page in a browser by way of a name that it made point here, and only who has the token, if there is
 * one.
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  OAuthError,
  OAuthErrorCode,
  originValidationResponse,
  requireBearerAuth,
  type AuthInfo,
} from '@modelcontextprotocol/server';

export interface GateOptions {
  /** Absent: everybody who can connect may call. */
  token?: string | undefined;
  /** Names by which this server may be called, besides those of the loopback. */
  allowedHosts?: readonly string[];
}

/** Resolves with what the request may go on with, or with the answer that ends it. */
export type Gate = (request: Request) => Promise<{ authInfo?: AuthInfo } | Response>;

export function openGate({ token, allowedHosts = [] }: GateOptions): Gate {
  const names = [...localhostAllowedHostnames(), ...allowedHosts];
  const authenticate = token === undefined ? undefined : bearerCheck(token);
  return async (request) => {
    const refused = hostHeaderValidationResponse(request, names) ?? originValidationResponse(request, names);
    if (refused) return refused;
    const authInfo = await authenticate?.(request);
    if (authInfo instanceof Response) return authInfo;
    return authInfo ? { authInfo } : {};
  };
}

function bearerCheck(token: string): (request: Request) => Promise<AuthInfo | Response> {
  const expected = digestOf(token);
  return requireBearerAuth({
    verifier: {
      verifyAccessToken: async (given) => {
        if (!timingSafeEqual(digestOf(given), expected)) {
          throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is wrong');
        }
        // It is good for as long as we run.
        return { token: given, clientId: 'token', scopes: [], expiresAt: Number.MAX_SAFE_INTEGER };
      },
    },
  });
}

/** Of equal length, whatever is given: so the time of the comparison says nothing. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
