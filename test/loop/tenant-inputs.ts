/**
 * Hostile examples of what tenants send: tokens of an issuer, its keys, and archives of skills.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { Oidc } from '../../src/http/oidc.ts';
import type { Issuer } from '../../src/tenants/tenants-file.ts';
import { TestIssuer } from '../http/issuer.ts';
import { archiveOf, TenantsStage } from '../http/tenants-stage.ts';
import { INPUTS } from './inputs.ts';

const MIB = 1024 ** 2;
const SOURCE = 'def execute(params):\n    return 1';

export const tenantExamples = {
  'token of an issuer': async (): Promise<void> => {
    const { cap } = INPUTS['token of an issuer'];
    await using issuer = await TestIssuer.start();
    const oidc = new Oidc(() => [issuer.settings() as unknown as Issuer]);
    const room = cap - (await issuer.token({ claims: { pad: '' } })).length;
    // Base64 needs four characters for three bytes.
    const [fits, tooLong] = await Promise.all(
      [Math.floor((room * 3) / 4) - 8, cap].map((length) =>
        issuer.token({ claims: { pad: 'x'.repeat(length) } }),
      ),
    );
    expect(await oidc.identify(tooLong ?? '')).toBeUndefined();
    // Nothing was fetched for it.
    expect(issuer.fetched).toBe(0);
    expect(await oidc.identify(fits ?? '')).toMatchObject({ tenant: 'acme' });
  },
  'keys of an issuer': async (): Promise<void> => {
    const { cap } = INPUTS['keys of an issuer'];
    await using issuer = await TestIssuer.start();
    issuer.respond = (response) => {
      response.setHeader('content-type', 'application/json').write(`{"keys":[],"x":"`);
      response.end(`${'x'.repeat(cap)}"}`);
    };
    const oidc = new Oidc(() => [issuer.settings() as unknown as Issuer]);
    await expect(oidc.identify(await issuer.token())).rejects.toMatchObject({ code: 'skill_unavailable' });
    expect(issuer.fetched).toBe(1);
  },
  'archive of an upload': async (): Promise<void> => {
    const uploads = { skills: 3, bytes: '64MiB', size: '8MiB' };
    await using own = await new TenantsStage({ acme: { uploads } }).open();
    // The service answers a request that is too large before all of it was sent, which some clients call an error.
    const isRefused = (sent: Promise<Response>): Promise<boolean> =>
      sent.then(({ status }) => status >= 400).catch(() => true);
    const big = (text: string): Promise<Response> =>
      own.upload('acme', { id: 'own/big', source: SOURCE, files: { 'data/big.txt': text } });
    // Some kilobytes that decompress to more than a bundle may have, and more bytes than may arrive.
    expect(await isRefused(big('x'.repeat(70 * MIB)))).toBe(true);
    expect(await isRefused(big(randomBytes(9 * MIB).toString('hex')))).toBe(true);
    // The service closes that connection, which the client may try once more.
    await own.ask('/healthz').catch(() => 'closed');
    const names = Object.fromEntries(Array.from({ length: 2100 }, (_, n) => [`data/f${n}`, '']));
    const many = archiveOf({ id: 'own/many', source: SOURCE, files: names });
    expect(await isRefused(own.put('acme', many))).toBe(true);
    expect((await own.upload('acme', { id: 'own/good', source: SOURCE })).status).toBeLessThan(300);
    const { skills } = (await (await own.ask('/v1/skills', { as: 'acme' })).json()) as {
      skills: { name: string }[];
    };
    expect(skills.map(({ name }) => name)).toEqual(['own/good']);
  },
};
