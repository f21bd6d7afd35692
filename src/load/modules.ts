/**
 * Classifies Python modules by what their import suggests: network access or child processes.
 * Lists of names only; drift.ts decides what follows from them.
 *
 * @module
 */
import { PYTHON_STDLIB } from './python-stdlib.ts';

/** Each name also covers everything below it: `socket` covers `socket.socket`. */
const NETWORK_MODULES = words(`
  socket _socket socketserver http.client http.server urllib.request ftplib smtplib imaplib poplib
  nntplib telnetlib smtpd asyncore asynchat xmlrpc.client xmlrpc.server wsgiref.simple_server
  logging.handlers.SocketHandler logging.handlers.HTTPHandler asyncio.open_connection
  asyncio.start_server multiprocessing.connection requests requests_html httpx httpcore aiohttp
  urllib3 httplib2 pycurl niquests websockets websocket socketio grpc zmq paramiko asyncssh fabric dns
  scapy boto3 botocore aiobotocore s3fs gcsfs azure google.cloud googleapiclient openai anthropic
  google.genai google.generativeai ollama mistralai cohere groq litellm replicate huggingface_hub web3
  tweepy slack_sdk discord telegram stripe redis pymongo psycopg psycopg2 asyncpg pymysql aiomysql
  elasticsearch kafka pika feedparser selenium playwright scrapy tornado twisted flask fastapi uvicorn
`);

const PROCESS_MODULES = words(`
  subprocess _posixsubprocess multiprocessing pty webbrowser sh pexpect plumbum
  concurrent.futures.ProcessPoolExecutor concurrent.futures.process asyncio.create_subprocess_exec
  asyncio.create_subprocess_shell asyncio.subprocess os.system os.popen os.fork os.forkpty
  os.posix_spawn os.posix_spawnp os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp
  os.execvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe
`);

/** Modules whose distribution has an unrelated name. */
const DISTRIBUTION_OF: Readonly<Record<string, string>> = {
  yaml: 'pyyaml',
  bs4: 'beautifulsoup4',
  pil: 'pillow',
  cv2: 'opencv',
  sklearn: 'scikitlearn',
  fitz: 'pymupdf',
  dateutil: 'pythondateutil',
  dotenv: 'pythondotenv',
  docx: 'pythondocx',
  pptx: 'pythonpptx',
  jwt: 'pyjwt',
  git: 'gitpython',
  crypto: 'pycryptodome',
  attr: 'attrs',
  serial: 'pyserial',
};

export function isNetworkModule(module: string): boolean {
  return NETWORK_MODULES.some((known) => isSameOrBelow(module, known));
}

export function isProcessModule(module: string): boolean {
  return PROCESS_MODULES.some((known) => isSameOrBelow(module, known));
}

/** Does this import resolve to the bundle? Its folder precedes everything except the standard library. */
export function isOwnModule(module: string, paths: readonly string[]): boolean {
  const top = module.split('.')[0] ?? '';
  if (PYTHON_STDLIB.has(top) || top.startsWith('_')) return false;
  return paths.some((path) => path === `${top}.py` || path.startsWith(`${top}/`));
}

export interface ModuleSources {
  /** PEP 508 strings from the manifest. */
  requirements: readonly string[];
  /** Paths of the files of the bundle. */
  paths: readonly string[];
}

/** Could this import succeed? Errs towards yes, because module and distribution names differ. */
export function isAvailableModule(module: string, sources: ModuleSources): boolean {
  const top = module.split('.')[0] ?? '';
  if (top === '' || top.startsWith('_') || PYTHON_STDLIB.has(top)) return true;
  // Provided by the harness inside the cell.
  if (top === 'skillware') return true;
  if (sources.paths.some((path) => path.split('/').some((part) => part === top || part === `${top}.py`)))
    return true;
  return sources.requirements.some((requirement) => mayProvide(requirement, top));
}

/** Could this requirement provide the module? */
export function mayProvide(requirement: string, top: string): boolean {
  const distribution = normalize(/^[\w.-]+/.exec(requirement.trim())?.[0] ?? '');
  const module = normalize(top);
  const alias = DISTRIBUTION_OF[module];
  if (distribution === '') return false;
  if (alias !== undefined && distribution.includes(alias)) return true;
  return distribution.includes(module) || module.includes(distribution);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, '');
}

function isSameOrBelow(module: string, known: string): boolean {
  return module === known || module.startsWith(`${known}.`);
}
