import { publicIdentity } from '#mpc/identity.ts';
import type { AlertCode } from '#domain/operations/alert.ts';
import type { Deployment, WorkerSettings } from './good-deployment.ts';
import { hashOf } from './good-deployment.ts';

/**
 * Wrong and risky settings, most of them from an audit, whose numbers the rows have. The table in
 * docs/settings.md has the same rows.
 */

interface WrongSetting {
  /** The number in the audit; empty for the others. */
  readonly number: string;
  readonly what: string;
  /** The setting that is named. */
  readonly name: string;
}

/** What `doctor` refuses before a deployment. */
export interface RefusedSetting extends WrongSetting {
  /** As `doctor` needs it: the file alone, the secrets of the Worker as well, or all files. */
  readonly needs: 'file' | 'secrets' | 'files';
  readonly level: 'fault' | 'warning';
  readonly change: (deployment: Deployment) => void;
}

/** What only a running service shows. */
export interface FoundSetting extends WrongSetting {
  readonly alert: AlertCode | 'none';
  /** Where it is shown, for one that is no alert. */
  readonly shown?: string;
}

type Case = readonly [number: string, what: string, name: string, change: (deployment: Deployment) => void];

const row =
  (needs: RefusedSetting['needs'], level: RefusedSetting['level'] = 'fault') =>
  ([number, what, name, change]: Case): RefusedSetting => ({ number, what, name, needs, level, change });

const HEX = '5e'.repeat(32);

/** Sets a variable of the coordinator, or removes it. */
const variable = (name: string, value?: string) => (deployment: Deployment) =>
  set(deployment.coordinator.vars, name, value);
const secret = (name: string, value?: string) => (deployment: Deployment) =>
  set(deployment.coordinator.secrets, name, value);
const rpc = (value: unknown) => variable('RPC_URLS', JSON.stringify(value));

function set(settings: Record<string, string>, name: string, value: string | undefined): void {
  if (value === undefined) Reflect.deleteProperty(settings, name);
  else settings[name] = value;
}

function cosignerOf({ cosigners }: Deployment, number: number): WorkerSettings {
  const cosigner = cosigners[number - 1];
  if (cosigner === undefined) throw new Error('there are four co-signers');
  return cosigner;
}

/** Sets a variable or a secret of co-signer 3. */
const at3 = (kind: 'vars' | 'secrets', name: string, value?: string) => (deployment: Deployment) =>
  set(cosignerOf(deployment, 3)[kind], name, value);

type Peers = Record<string, { signing: string; exchange: string }>;

/** Changes the PEERS setting of some co-signers. */
const peers = (numbers: readonly number[], change: (peers: Peers) => void) => (deployment: Deployment) => {
  for (const number of numbers) {
    const { vars } = cosignerOf(deployment, number);
    const setting = JSON.parse(vars['PEERS'] ?? '') as Peers;
    change(setting);
    vars['PEERS'] = JSON.stringify(setting);
  }
};

function entryOf(setting: Peers, number: string) {
  const entry = setting[number];
  if (entry === undefined) throw new Error('the entry exists');
  return entry;
}

const stranger = publicIdentity(HEX);
const queue =
  (name: string, change: (consumers: WorkerSettings['queues']['consumers'], at: number) => void) =>
  ({ coordinator }: Deployment) => {
    const { consumers } = coordinator.queues;
    change(
      consumers,
      consumers.findIndex((one) => one.queue === name),
    );
  };
const URLS = ['https://a.example', 'https://b.example'];
const KEY_SECRETS = (secrets: readonly string[]) =>
  JSON.stringify(secrets.map((one, i) => ({ id: `k${i}`, secret: one })));

const IN_FILE: readonly Case[] = [
  ['02', 'RPC_URLS: an empty text', 'RPC_URLS', variable('RPC_URLS', '')],
  ['03', 'RPC_URLS: not JSON', 'RPC_URLS', variable('RPC_URLS', '{anvil:x}')],
  ['04', 'RPC_URLS: a mistyped chain', 'RPC_URLS', rpc({ anvill: URLS })],
  ['05', 'RPC_URLS: a CAIP-2 name', 'RPC_URLS', rpc({ 'eip155:31337': URLS })],
  ['07', 'RPC_URLS: one URL twice', 'RPC_URLS', rpc({ anvil: [URLS[0], URLS[0]] })],
  ['', 'RPC_URLS: one host with two ports', 'RPC_URLS', rpc({ anvil: [`${URLS[0]}:1`, `${URLS[0]}:2`] })],
  ['08', 'RPC_URLS: http to another machine', 'RPC_URLS', rpc({ anvil: [URLS[0], 'http://b.example'] })],
  ['11', 'RPC_URLS: no scheme', 'RPC_URLS', rpc({ anvil: ['rpc.example.com'] })],
  ['12', 'RPC_URLS: a chain twice', 'RPC_URLS', variable('RPC_URLS', '{"anvil":["https://a.example"],"anvil":[]}')],
  ['', 'RPC_URLS: no chain', 'RPC_URLS', rpc({})],
  ['13', 'CHAINS: malformed', 'CHAINS', variable('CHAINS', '[{"name":"x"}]')],
  ['14', 'COSIGNER_URLS: not JSON', 'COSIGNER_URLS', variable('COSIGNER_URLS', '4=https://x')],
  ['15', 'COSIGNER_URLS: a slash', 'COSIGNER_URLS', variable('COSIGNER_URLS', '{"4":"https://c4.example.com/"}')],
  ['16', 'COSIGNER_URLS: http', 'COSIGNER_URLS', variable('COSIGNER_URLS', '{"4":"http://c4.example.com"}')],
  ['17', 'COSIGNER_URLS: a gap', 'COSIGNER_URLS', variable('COSIGNER_URLS', '{"5":"https://c5.example.com"}')],
  [
    '18',
    'COSIGNER_URLS: one origin twice',
    'COSIGNER_URLS',
    variable('COSIGNER_URLS', '{"3":"https://c.example.com","4":"https://c.example.com"}'),
  ],
  ['34', 'APPROVAL_ORIGIN: a slash', 'APPROVAL_ORIGIN', variable('APPROVAL_ORIGIN', 'https://approve.example.org/')],
  ['35', 'APPROVAL_ORIGIN: http', 'APPROVAL_ORIGIN', variable('APPROVAL_ORIGIN', 'http://approve.example.org')],
  [
    '36',
    'APPROVAL_ORIGIN: the coordinator',
    'APPROVAL_ORIGIN',
    variable('APPROVAL_ORIGIN', 'https://vaults.example.com'),
  ],
  ['40', 'PRICE_SOURCES: malformed', 'PRICE_SOURCES', variable('PRICE_SOURCES', '[{"type":"foo"}]')],
  ['41', 'RATE_LIMITS: a mistyped policy', 'RATE_LIMITS', variable('RATE_LIMITS', '{"reads":100}')],
  [
    '42',
    'CREDENTIAL_RESET_DELAY_SECONDS: a minute',
    'CREDENTIAL_RESET_DELAY_SECONDS',
    variable('CREDENTIAL_RESET_DELAY_SECONDS', '60'),
  ],
  ['', 'MAX_TOKEN_DAYS: no days', 'MAX_TOKEN_DAYS', variable('MAX_TOKEN_DAYS', '0')],
  ['', 'TOKEN_MAC_KEY: a variable', 'TOKEN_MAC_KEY', variable('TOKEN_MAC_KEY', HEX)],
  [
    '44',
    'signing queue: a batch of ten',
    'conclave-signing',
    queue('conclave-signing', (all, i) => void (all[i]!.max_batch_size = 10)),
  ],
  [
    '',
    'a queue without a consumer',
    'conclave-confirmation',
    queue('conclave-confirmation', (all, i) => void all.splice(i, 1)),
  ],
  [
    '',
    'a queue without a dead-letter queue',
    'conclave-activity',
    queue('conclave-activity', (all, i) => void Reflect.deleteProperty(all[i]!, 'dead_letter_queue')),
  ],
  ['45', 'no cron', 'triggers', ({ coordinator }) => void (coordinator.triggers.crons = [])],
  ['', 'a cron each hour', 'triggers', ({ coordinator }) => void (coordinator.triggers.crons = ['0 * * * *'])],
  ['', 'DB: no id', 'DB', ({ coordinator }) => void (coordinator.d1_databases = [])],
  [
    '54',
    'one co-signer bound twice',
    'COSIGNER_1, COSIGNER_2',
    ({ coordinator: { services } }) => void (services[1]!.service = services[0]!.service),
  ],
  ['50', 'NODE_INDEX: missing', 'NODE_INDEX', at3('vars', 'NODE_INDEX')],
  ['51', 'NODE_INDEX: 9', 'NODE_INDEX', at3('vars', 'NODE_INDEX', '9')],
  ['55', 'PEERS: {}', 'PEERS', at3('vars', 'PEERS', '{}')],
  ['', 'PEERS: missing', 'PEERS', at3('vars', 'PEERS')],
  ['61', 'PEERS: two equal entries', 'PEERS', peers([1, 2, 3, 4], (all) => void (all['2'] = entryOf(all, '1')))],
  ['64', 'COORDINATOR_KEY: malformed', 'COORDINATOR_KEY', at3('vars', 'COORDINATOR_KEY', 'zz')],
  ['67', 'RECOVERY_KEY: malformed', 'RECOVERY_KEY', at3('vars', 'RECOVERY_KEY', 'abc')],
  ['69', 'SHARES_SINCE: 2062', 'SHARES_SINCE', at3('vars', 'SHARES_SINCE', '2062-01-01T00:00:00Z')],
  ['70', 'SHARES_SINCE: 12/12/2026', 'SHARES_SINCE', at3('vars', 'SHARES_SINCE', '12/12/2026')],
  ['71', 'SHARES_SINCE: no time', 'SHARES_SINCE', at3('vars', 'SHARES_SINCE', 'yesterday')],
  ['72', 'MAX_FEES: malformed', 'MAX_FEES', at3('vars', 'MAX_FEES', '{"eip155:31337":5}')],
  ['73', 'MAX_FEES: below any fee', 'MAX_FEES', at3('vars', 'MAX_FEES', '{"eip155:31337":"1"}')],
];

const WARNED: readonly Case[] = [
  ['06', 'RPC_URLS: one RPC node of a chain', 'RPC_URLS', rpc({ anvil: [URLS[0]] })],
  ['62', 'COORDINATOR_KEY: empty', 'COORDINATOR_KEY', at3('vars', 'COORDINATOR_KEY', '')],
  ['68', 'RECOVERY_KEY: empty', 'RECOVERY_KEY', at3('vars', 'RECOVERY_KEY', '')],
];

const WITH_SECRETS: readonly Case[] = [
  ['01', 'RPC_URLS: missing', 'RPC_URLS', variable('RPC_URLS')],
  ['', 'RPC_URLS: a variable and a secret', 'RPC_URLS', secret('RPC_URLS', JSON.stringify({ anvil: URLS }))],
  ['19', 'COORDINATOR_SECRET: missing', 'COSIGNER_URLS', secret('COORDINATOR_SECRET')],
  ['21', 'COORDINATOR_SECRET: too short', 'COORDINATOR_SECRET', secret('COORDINATOR_SECRET', 'abcd')],
  ['22', 'TOKEN_MAC_KEY: missing', 'TOKEN_MAC_KEY', secret('TOKEN_MAC_KEY')],
  ['23', 'TOKEN_MAC_KEY: empty', 'TOKEN_MAC_KEY', secret('TOKEN_MAC_KEY', '')],
  ['24', 'TOKEN_MAC_KEY: too short', 'TOKEN_MAC_KEY', secret('TOKEN_MAC_KEY', 'ab')],
  ['26', 'SERVICE_KEY_HASHES: missing', 'SERVICE_KEY_HASHES', secret('SERVICE_KEY_HASHES')],
  [
    '27',
    'SERVICE_KEY_HASHES: upper case',
    'SERVICE_KEY_HASHES',
    secret('SERVICE_KEY_HASHES', hashOf('x').toUpperCase()),
  ],
  ['28', 'SERVICE_KEY_HASHES: the key itself', 'SERVICE_KEY_HASHES', secret('SERVICE_KEY_HASHES', 'service_key_x')],
  [
    '30',
    'SERVICE_KEY_HASHES: of the key "a"',
    'SERVICE_KEY_HASHES',
    secret('SERVICE_KEY_HASHES', `${hashOf('key of a monitor')},${hashOf('a')}`),
  ],
  [
    '31',
    'WEBHOOK_ENDPOINTS: malformed',
    'WEBHOOK_ENDPOINTS',
    secret('WEBHOOK_ENDPOINTS', '{"a":{"provider":"alchemy"}}'),
  ],
  [
    '32',
    'WEBHOOK_ENDPOINTS: an unknown provider',
    'WEBHOOK_ENDPOINTS',
    secret('WEBHOOK_ENDPOINTS', '{"a":{"provider":"alchmy","secrets":["12345678"]}}'),
  ],
  [
    '33',
    'WEBHOOK_ENDPOINTS: one wrong entry',
    'WEBHOOK_ENDPOINTS',
    secret(
      'WEBHOOK_ENDPOINTS',
      '{"a":{"provider":"alchemy","secrets":["12345678"]},"b":{"provider":"alchemy","secrets":[]}}',
    ),
  ],
  ['37', 'LOGIN: http', 'LOGIN', secret('LOGIN', '{"issuer":"http://login.example","clientId":"x"}')],
  ['38', 'LOGIN: not JSON', 'LOGIN', secret('LOGIN', 'issuer=https://x')],
  [
    '39',
    'WEB_PUSH: keys that are no pair',
    'WEB_PUSH',
    ({ coordinator: { secrets } }) => {
      const keys = JSON.parse(secrets['WEB_PUSH'] ?? '') as object;
      secrets['WEB_PUSH'] = JSON.stringify({ ...keys, privateKey: Buffer.alloc(32, 7).toString('base64url') });
    },
  ],
  ['43', 'IDENTITY_SECRET at the coordinator', 'IDENTITY_SECRET', secret('IDENTITY_SECRET', HEX)],
  ['46', 'COORDINATOR_SECRET equal to TOKEN_MAC_KEY', 'COORDINATOR_SECRET', secret('TOKEN_MAC_KEY', 'ab'.repeat(32))],
  ['', 'HEARTBEAT_URL: http', 'HEARTBEAT_URL', secret('HEARTBEAT_URL', 'http://ping.example/x')],
  ['', 'ALERT_WEBHOOK: http', 'ALERT_WEBHOOK', secret('ALERT_WEBHOOK', '{"form":"slack","url":"http://a.example"}')],
  ['', 'EMAIL_NOTIFICATIONS: not JSON', 'EMAIL_NOTIFICATIONS', secret('EMAIL_NOTIFICATIONS', 'x')],
  ['56', 'PEERS: another entry of its own', 'PEERS', peers([3], (all) => void (all['3'] = stranger))],
  ['74', 'IDENTITY_SECRET: missing', 'IDENTITY_SECRET', at3('secrets', 'IDENTITY_SECRET')],
  ['75', 'IDENTITY_SECRET: another one', 'PEERS', at3('secrets', 'IDENTITY_SECRET', HEX)],
  ['76', 'KEY_ENCRYPTION_SECRETS: hex', 'KEY_ENCRYPTION_SECRETS', at3('secrets', 'KEY_ENCRYPTION_SECRETS', HEX)],
  [
    '80',
    'KEY_ENCRYPTION_SECRETS: an id twice',
    'KEY_ENCRYPTION_SECRETS',
    at3(
      'secrets',
      'KEY_ENCRYPTION_SECRETS',
      KEY_SECRETS(['ab', 'cd'].map((two) => two.repeat(32))).replace('k1', 'k0'),
    ),
  ],
  [
    '81',
    'KEY_ENCRYPTION_SECRETS: zeros',
    'KEY_ENCRYPTION_SECRETS',
    at3('secrets', 'KEY_ENCRYPTION_SECRETS', KEY_SECRETS(['0'.repeat(64)])),
  ],
  [
    '82',
    'IDENTITY_SECRET in KEY_ENCRYPTION_SECRETS',
    'IDENTITY_SECRET',
    (deployment) => {
      const { secrets } = cosignerOf(deployment, 3);
      secrets['KEY_ENCRYPTION_SECRETS'] = KEY_SECRETS([secrets['IDENTITY_SECRET'] ?? '']);
    },
  ],
  ['83', 'COORDINATOR_SECRET at a co-signer', 'COORDINATOR_SECRET', at3('secrets', 'COORDINATOR_SECRET', HEX)],
  ['84', 'IDENTITY_SECRET: a newline', 'IDENTITY_SECRET', at3('secrets', 'IDENTITY_SECRET', `${HEX}\n`)],
];

const BETWEEN_FILES: readonly Case[] = [
  ['52', 'NODE_INDEX: one number twice', 'NODE_INDEX', at3('vars', 'NODE_INDEX', '2')],
  [
    '53',
    'bindings of two co-signers swapped',
    'COSIGNER_1',
    ({ coordinator: { services } }) => {
      [services[0]!.service, services[1]!.service] = [services[1]!.service, services[0]!.service];
    },
  ],
  [
    '57',
    'PEERS: two entries swapped',
    'PEERS',
    peers([3], (all) => void ([all['1'], all['2']] = [entryOf(all, '2'), entryOf(all, '1')])),
  ],
  ['58', 'PEERS: an entry missing', 'PEERS', peers([1], (all) => void Reflect.deleteProperty(all, '4'))],
  ['59', 'PEERS: a stranger added', 'PEERS', peers([3], (all) => void (all['5'] = stranger))],
  ['60', 'PEERS: another entry of co-signer 1', 'PEERS', peers([3], (all) => void (all['1'] = stranger))],
  ['63', 'COORDINATOR_KEY: another one', 'COORDINATOR_KEY', at3('vars', 'COORDINATOR_KEY', HEX)],
  [
    '65',
    'RECOVERY_KEY: one for all',
    'RECOVERY_KEY',
    ({ cosigners }) =>
      cosigners.forEach(({ vars }) => void (vars['RECOVERY_KEY'] = cosigners[0]?.vars['RECOVERY_KEY'] ?? '')),
  ],
  ['', 'COSIGNER_URLS: a co-signer left out', 'COSIGNER_URLS', variable('COSIGNER_URLS', '')],
];

export const REFUSED: readonly RefusedSetting[] = [
  ...IN_FILE.map(row('file')),
  ...WARNED.map(row('file', 'warning')),
  ...WITH_SECRETS.map(row('secrets')),
  ...BETWEEN_FILES.map(row('files')),
];

export const FOUND: readonly FoundSetting[] = [
  {
    number: '09',
    what: 'RPC_URLS: the only RPC node serves another chain',
    name: 'RPC_URLS',
    alert: 'rpc-node-other-chain',
  },
  {
    number: '10',
    what: 'RPC_URLS: the second RPC node serves another chain',
    name: 'RPC_URLS',
    alert: 'rpc-node-other-chain',
  },
  { number: '20', what: 'COORDINATOR_SECRET: another one', name: 'COORDINATOR_SECRET', alert: 'cosigner-away' },
  {
    number: '25',
    what: 'TOKEN_MAC_KEY: another key',
    name: 'TOKEN_MAC_KEY',
    alert: 'foreign-database',
  },
  { number: '', what: 'DB: the database of another deployment', name: 'TOKEN_MAC_KEY', alert: 'foreign-database' },
  {
    number: '29',
    what: 'SERVICE_KEY_HASHES: hash of the key and a newline',
    name: 'SERVICE_KEY_HASHES',
    alert: 'none',
    shown: 'the first command gets 401 `service-key-invalid`',
  },
  {
    number: '66',
    what: 'RECOVERY_KEY: a key that no keeper has',
    name: 'RECOVERY_KEY',
    alert: 'none',
    shown: '`recover check` of the keeper opens nothing',
  },
  {
    number: '77',
    what: 'KEY_ENCRYPTION_SECRETS: another secret, same id',
    name: 'KEY_ENCRYPTION_SECRETS',
    alert: 'share-unreadable',
  },
  {
    number: '78',
    what: 'KEY_ENCRYPTION_SECRETS: other ids at two co-signers',
    name: 'KEY_ENCRYPTION_SECRETS',
    alert: 'share-unreadable',
  },
  {
    number: '79',
    what: 'KEY_ENCRYPTION_SECRETS: one secret at two co-signers',
    name: 'KEY_ENCRYPTION_SECRETS',
    alert: 'same-secret',
  },
  { number: '85', what: 'two of three co-signers misconfigured', name: 'PEERS', alert: 'cosigner-away' },
];
