/**
 * The configuration of a server. Every key has an account of its own that imports what its owner needs, because permissions
 * do not cover the subject that a request asks to be answered on: in an account that all share, any key could have the
 * server send a stored message anywhere.
 *
 * @module
 */
import { NEVER, permissionsOf, type MadeKey } from './keys.ts';
import { ANNOUNCE_SUBJECT, HELLO_SUBJECT } from './placement.ts';

/** Settings of one server. */
export interface ServerOptions {
  /** `HOST:PORT` */
  listen: string;
  /** Where it keeps streams. */
  storeDir: string;
  tls?: { cert: string; key: string; ca?: string } | undefined;
  /** Present if several servers form the cluster. */
  routes?: { name: string; listen: string; servers: readonly string[]; serverName: string } | undefined;
}

/** The account of the streams. Only the administrator is in it. */
const SHARED = 'SC';

/** What others may ask of the account of the streams. Each account imports only its part. */
const SERVICES = ['$JS.API.>', '$JS.ACK.>', '$KV.>', '$O.>', 'sc.job.*.*', 'sc.receipt.*'];
/** What others may hear, without an answer. Each account exports what its owner says, and imports from those it listens to. */
const ANNOUNCED = `${ANNOUNCE_SUBJECT}.*.*.*`;
const SAID = ['sc.cancel.*.*', ANNOUNCED, HELLO_SUBJECT];

/** The configuration file of a server that knows exactly these keys. */
export function serverConfig(keys: readonly MadeKey[], options: ServerOptions): string {
  const { listen, storeDir, tls, routes } = options;
  const admins = keys.filter(({ role }) => role === 'admin');
  const others = keys.filter(({ role }) => role !== 'admin');
  return [
    `# Written by skillcell cluster init.`,
    ...(routes ? [`server_name: ${JSON.stringify(routes.serverName)}`] : []),
    `listen: ${JSON.stringify(listen)}`,
    // Accepted means kept, also if the machine loses power.
    `jetstream { store_dir: ${JSON.stringify(storeDir)}, sync_interval: always }`,
    ...(tls ? [tlsBlock(tls)] : []),
    ...(routes
      ? [
          `cluster { name: ${JSON.stringify(routes.name)}, listen: ${JSON.stringify(routes.listen)}, routes: ${quoted(routes.servers)} }`,
        ]
      : []),
    'accounts {',
    sharedAccount(admins, others),
    ...others.map((key) => accountOf(key, others)),
    '}\n',
  ].join('\n');
}

function sharedAccount(admins: readonly MadeKey[], others: readonly MadeKey[]): string {
  const exports = [
    // Several messages may answer one request.
    ...SERVICES.map((subject) => `{ service: ${JSON.stringify(subject)}, response: stream }`),
    `{ stream: ${JSON.stringify(HELLO_SUBJECT)} }`,
  ];
  const imports = [
    ...others.flatMap((key) => (key.role === 'worker' ? [service(key, `sc.alive.${key.name}`)] : [])),
    ...others.flatMap((key) => heardFrom(key, [ANNOUNCED])),
  ];
  const users = admins.map(({ publicKey }) => `{ nkey: ${publicKey} }`);
  return account(SHARED, { users, exports, imports, extra: ['jetstream: enabled'] });
}

function accountOf(key: MadeKey, others: readonly MadeKey[]): string {
  const { role, name, publicKey } = key;
  const { publish, subscribe } = permissionsOf(key);
  // A front end confirms outcomes, and a worker answers whether a call still runs.
  const responses = ', allow_responses: { max: 1, expires: "1m" }';
  const deny = role === 'auditor' ? '' : `, deny: ${quoted(NEVER)}`;
  const user = `{ nkey: ${publicKey}, permissions: { publish: { allow: ${quoted(publish)}${deny} }, subscribe: { allow: ${quoted(subscribe)} }${responses} } }`;
  const exports = [
    ...subscribe
      .filter((subject) => /^sc\.(?:alive|reply)\./.test(subject))
      .map((subject) => `{ service: ${JSON.stringify(subject)} }`),
    ...publish.filter(isSaid).map((subject) => `{ stream: ${JSON.stringify(subject)} }`),
  ];
  const peers = others.filter((one) => one !== key);
  const imports = [
    ...widest(publish.filter((subject) => !isSaid(subject))).flatMap((subject) => importsOf(subject, peers)),
    ...peers.flatMap((peer) => heardFrom(peer, subscribe)),
    ...(subscribe.includes(HELLO_SUBJECT) ? [stream(undefined, HELLO_SUBJECT)] : []),
  ];
  return account(accountName(key), { users: [user], exports, imports, extra: [`# ${role} ${name}`] });
}

function isSaid(subject: string): boolean {
  return SAID.some((one) => covers(one, subject));
}

/** What a listener hears of what the owner of a key says: the narrower of both subjects. */
function heardFrom(key: MadeKey, listened: readonly string[]): string[] {
  const said = permissionsOf(key).publish.filter(isSaid);
  return said.flatMap((subject) =>
    listened.filter(isSaid).flatMap((wanted) => {
      if (covers(wanted, subject)) return [stream(key, subject)];
      return covers(subject, wanted) ? [stream(key, wanted)] : [];
    }),
  );
}

/** Where a subject that a key may publish leads to. */
function importsOf(subject: string, others: readonly MadeKey[]): string[] {
  const to = (role: MadeKey['role'], subjectOf: (name: string) => string): string[] =>
    others.flatMap((one) => (one.role === role ? [service(one, subjectOf(one.name))] : []));
  if (subject === 'sc.alive.*') return to('worker', (name) => `sc.alive.${name}`);
  if (!subject.startsWith('sc.reply.')) return [service(undefined, subject)];
  const [, , tenant = '*'] = subject.split('.');
  return to('front', (name) => `sc.reply.${tenant}.${name}.*`);
}

function service(key: MadeKey | undefined, subject: string): string {
  const from = key ? accountName(key) : SHARED;
  return `{ service: { account: ${JSON.stringify(from)}, subject: ${JSON.stringify(subject)} } }`;
}

function stream(key: MadeKey | undefined, subject: string): string {
  const from = key ? accountName(key) : SHARED;
  return `{ stream: { account: ${JSON.stringify(from)}, subject: ${JSON.stringify(subject)} } }`;
}

function accountName({ role, name }: MadeKey): string {
  return `${role}-${name}`;
}

function account(
  name: string,
  { users, exports, imports, extra }: Record<'users' | 'exports' | 'imports' | 'extra', readonly string[]>,
): string {
  const list = (key: string, rows: readonly string[]): string =>
    `    ${key}: [\n${rows.map((row) => `      ${row}`).join('\n')}\n    ]`;
  const lines = [
    ...extra.map((line) => `    ${line}`),
    list('users', users),
    list('exports', exports),
    list('imports', imports),
  ];
  return `  ${JSON.stringify(name)}: {\n${lines.join('\n')}\n  }`;
}

/** A message that two imports cover would arrive twice. */
function widest(subjects: readonly string[]): string[] {
  const unique = [...new Set(subjects)];
  return unique.filter((one) => !unique.some((other) => other !== one && covers(other, one)));
}

function covers(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.');
  const given = subject.split('.');
  for (const [at, part] of wanted.entries()) {
    if (part === '>') return given.length > at;
    const other = given[at];
    if (other === undefined || other === '>' || (part !== '*' && part !== other)) return false;
  }
  return wanted.length === given.length;
}

function quoted(texts: readonly string[]): string {
  return `[${texts.map((one) => JSON.stringify(one)).join(', ')}]`;
}

function tlsBlock({ cert, key, ca }: { cert: string; key: string; ca?: string }): string {
  const verify = ca === undefined ? '' : `, ca_file: ${JSON.stringify(ca)}, verify: true`;
  return `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)}${verify} }`;
}
