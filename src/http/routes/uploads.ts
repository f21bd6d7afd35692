/**
 * Routes for the skills of a tenant. An upload only enters the quarantine of its tenant; the operator decides about calls.
 *
 * @module
 */
import { SkillError, type Tenant } from '../../inside.ts';
import type { Identity } from '../access.ts';
import { json } from '../answers.ts';
import { removal, uploadAnswer } from '../answer-schemas.ts';
import { routesOf, type Route } from '../route.ts';
import type { Service } from '../service.ts';
import { unknownSkill } from '../shelf.ts';

const route = routesOf('uploads');

const ARCHIVES = ['application/zip', 'application/gzip', 'application/zstd', 'application/x-tar'] as const;

const upload: Route = route('put /v1/skills', {
  summary: 'Upload a skill of this tenant, as an archive; it replaces an earlier upload of the same id',
  description:
    'Nothing of it runs. It is read, verified and judged by the policy, and kept only if that allows it or asks for an' +
    ' approval. Only this tenant sees it, and it never takes the id of another skill.',
  scopes: ['upload'],
  rawBody: ARCHIVES,
  answers: { 201: uploadAnswer },
  handle: async ({ service, identity, c }) => {
    const tenant = ownTenant(service, identity);
    // Without a cap of ours here: the archive reader stops at the size that the tenant may upload.
    const archive = chunksOf(c.req.raw.body);
    const received = await service.tenancy.uploads.receive({ tenant, archive, by: identity.caller });
    return json(c, received, 201);
  },
});

const remove: Route = route('delete /v1/skills/{name}', {
  summary: 'Remove a skill that this tenant uploaded; running calls of it end as usual',
  scopes: ['upload'],
  answers: { 200: removal },
  handle: ({ service, identity, param, c }) => {
    const { context } = ownTenant(service, identity);
    const name = param('name');
    if (!service.tenancy.uploads.remove(context.name, name)) throw unknownSkill(name);
    return json(c, { removed: name });
  },
});

function ownTenant({ tenancy }: Service, identity: Identity): Tenant {
  const tenant = tenancy.of(identity);
  if (tenant) return tenant;
  throw new SkillError('untrusted', 'Only a tenant can upload skills', {
    fix: 'Use a token of a tenant of the file that the service was started with (--tenants FILE).',
  });
}

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Buffer> {
  for await (const chunk of body ?? []) yield Buffer.from(chunk);
}

export const UPLOAD_ROUTES: readonly Route[] = [upload, remove];
