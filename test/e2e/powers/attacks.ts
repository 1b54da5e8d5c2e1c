/**
 * The powers of a server, and attacks on each of them. An attack is an expression that resolves if
 * it has succeeded, and throws if it was refused.
 */

/** Parts of a server that attacks aim at. */
export interface Target {
  readonly dataDir: string
  /** Process id of the server. */
  readonly pid: number
  readonly port: number
  /** A Unix socket of the machine that every user may connect to. */
  readonly foreignSocket: string
  /** Port of another program of the machine. */
  readonly foreignPort: number
  /** A thread of another tenant. */
  readonly otherThread: string
}

/** Places at which code of a deployment runs. */
export const codePlaces = ['graph process', 'app thread', 'replay'] as const

/** A place at which code of a deployment runs. */
export type CodePlace = typeof codePlaces[number]

/** An attack by code of a deployment. */
export interface CodeAttack {
  readonly power: string
  readonly name: string
  readonly code: (target: Target) => string
  /** Places at which the power is refused; by default all. */
  readonly places?: readonly CodePlace[]
}

/** Resolves if a socket or a server opens. */
const opening = (expression: string) =>
  `new Promise((resolve, reject) => {
  const socket = ${expression}
  for (const event of ['connect', 'response', 'listening']) socket.on(event, () => resolve(event))
  socket.on('error', reject)
})`

const reading = (path: string) => `require('fs').readFileSync('${path}')`

/** Resolves if a thread of this class reads a file of the server. */
const threadReading = ({ dataDir }: Target, Class: string, options: string) =>
  `new Promise((resolve, reject) => {
    const code = "require('fs').readFileSync('${dataDir}/heddle.db')"
    new (${Class})(code, { eval: true, ...${options} }).on('error', reject)
      .on('exit', (status) => status === 0 ? resolve('read') : reject(new Error('ended')))
  })`

const realClass = `(() => {
  const { construct } = Reflect
  let found
  Reflect.construct = (target, ...more) => construct(found = target, ...more)
  try { new (require('worker_threads').Worker)('', { eval: true }) } finally {
    Reflect.construct = construct
  }
  return found ?? require('worker_threads').Worker
})()`

/** Resolves if the server accepts a request that the code of a run makes. */
const requesting = ({ port }: Target, method: string, path: string, body?: object) =>
  `(async () => {
    const response = await fetch('http://localhost:${port}${path}', { method: '${method}',
      headers: { 'content-type': 'application/json' },
      ${body === undefined ? '' : `body: ${JSON.stringify(JSON.stringify(body))}`} })
    if (!response.ok) throw new Error(String(response.status))
    return await response.text()
  })()`

const createKey = JSON.stringify({ do: 'create', with: { tenant: 'other', role: 'admin' } })

/** All attacks by code. */
export const codeAttacks: readonly CodeAttack[] = [
  { power: 'admin socket', name: 'a request over the socket',
    code: ({ dataDir }) =>
      `new Promise((resolve, reject) => {
      const socket = require('net').connect({ path: '${dataDir}/heddle.sock' })
      socket.on('error', reject).on('data', (line) => resolve(String(line)))
      socket.write(${JSON.stringify(`${createKey}\n`)})
    })` },
  { power: 'admin socket', name: 'an HTTP client',
    code: ({ dataDir }) =>
      opening(`require('http').get({ socketPath: '${dataDir}/heddle.sock' })`) },
  { power: 'admin socket', name: 'the secret of the socket',
    code: ({ dataDir }) => reading(`${dataDir}/heddle.sock-secret`) },
  { power: 'admin socket', name: 'a socket in its place',
    code: ({ dataDir }) => opening(`require('net').createServer().listen('${dataDir}/x.sock')`) },
  { power: 'store', name: 'the database', code: ({ dataDir }) => reading(`${dataDir}/heddle.db`) },
  { power: 'store', name: 'the database by a path with dots',
    code: ({ dataDir }) =>
      `require('fs').readFileSync(Buffer.from(process.cwd() + '/../..${dataDir}/heddle.db'))` },
  { power: 'store', name: 'the database by SQLite',
    code: ({ dataDir }) => `new (require('node:sqlite').DatabaseSync)('${dataDir}/heddle.db')` },
  { power: 'store', name: 'the database by a copy',
    code: ({ dataDir }) =>
      `require('fs').copyFileSync('${dataDir}/heddle.db', process.cwd() + '/copy')` },
  { power: 'keys', name: 'the key of secrets',
    code: ({ dataDir }) => reading(`${dataDir}/secrets.key`) },
  { power: 'keys', name: 'the environment of the server',
    code: ({ pid }) => reading(`/proc/${pid}/environ`) },
  { power: 'keys', name: 'the arguments of the server',
    code: ({ pid }) => reading(`/proc/${pid}/cmdline`) },
  { power: 'files', name: 'a file of the machine', code: () => reading('/etc/passwd') },
  { power: 'files', name: 'a file by the root of a process',
    code: () => reading('/proc/self/root/etc/passwd') },
  { power: 'files', name: 'a change of its revision',
    code: () => `require('fs').writeFileSync(process.cwd() + '/new.txt', '')` },
  { power: 'files', name: 'a link to a file of the server',
    code: ({ dataDir }) =>
      `require('fs').symlinkSync('${dataDir}/heddle.db', process.cwd() + '/link')` },
  { power: 'files', name: 'a thread with arguments',
    code: (target) =>
      threadReading(target, `require('worker_threads').Worker`, '{ execArgv: [] }') },
  { power: 'files', name: 'a thread of a class that it finds',
    code: (target) => threadReading(target, realClass, '{ execArgv: [] }') },
  { power: 'files', name: 'a thread with options for Node',
    code: (target) =>
      threadReading(target, `require('worker_threads').Worker`,
        `{ env: { NODE_OPTIONS: '--allow-fs-read=*' } }`) },
  { power: 'processes', name: 'a program',
    code: () => `require('child_process').execFileSync('/bin/true')` },
  { power: 'processes', name: 'a debugger of the server',
    code: ({ pid }) => `process.kill(${pid}, 'SIGUSR1')` },
  { power: 'processes', name: 'the end of the server',
    code: ({ pid }) => `process.kill(${pid}, 'SIGKILL')` },
  { power: 'processes', name: 'the end of the group of processes',
    code: () => `process.kill(0, 'SIGKILL')` },
  { power: 'processes', name: 'native code',
    code: () => `process.dlopen({ exports: {} }, process.execPath)` },
  { power: 'network', name: 'a Unix socket of the machine',
    code: ({ foreignSocket }) => opening(`require('net').connect('${foreignSocket}')`) },
  { power: 'network', name: 'a TCP connection', places: ['replay'],
    code: ({ foreignPort }) => opening(`require('net').connect(${foreignPort}, '127.0.0.1')`) },
  { power: 'network', name: 'a TCP connection by the object of the system', places: ['replay'],
    code: ({ foreignPort }) =>
      `(() => {
        const own = require('net').createServer().listen(0, '127.0.0.1')
        const { some } = Array.prototype
        Array.prototype.some = () => true
        try {
          const fault = own._handle.connect({}, '127.0.0.1', ${foreignPort})
          if (fault < 0) throw new Error(String(fault))
        } finally {
          Array.prototype.some = some
        }
      })()` },
  { power: 'network', name: 'a UDP message', places: ['replay'],
    code: ({ foreignPort }) =>
      `new Promise((resolve, reject) => require('dgram').createSocket('udp4')
      .on('error', reject).send('x', ${foreignPort}, '127.0.0.1', resolve))` },
  { power: 'network', name: 'a request', places: ['replay'],
    code: ({ foreignPort }) => `fetch('http://127.0.0.1:${foreignPort}/')` },
  { power: 'other tenants', name: 'a thread of another tenant',
    code: (target) => requesting(target, 'GET', `/threads/${target.otherThread}`) },
  { power: 'other tenants', name: 'the deletion of a thread of another tenant',
    code: (target) => requesting(target, 'DELETE', `/threads/${target.otherThread}`) },
  { power: 'deployments', name: 'a new deployment',
    code: (target) => requesting(target, 'POST', '/control/v1/deployments', { name: 'taken' }) },
  { power: 'deployments', name: 'the secrets of a deployment',
    code: (target) => requesting(target, 'GET', '/control/v1/deployments/shop/secrets') },
  { power: 'deployments', name: 'the removal of a deployment',
    code: (target) => requesting(target, 'DELETE', '/control/v1/deployments/shop') },
]

/** A request by a caller that is not the code of a deployment. */
export interface Asked {
  readonly power: string
  readonly method: string
  readonly path: (target: Target) => string
  readonly body?: object
}

/** Requests to all parts of the server that a visitor must not reach. */
export const requests: readonly Asked[] = [
  { power: 'other tenants', method: 'GET', path: ({ otherThread }) => `/threads/${otherThread}` },
  { power: 'other tenants', method: 'POST', path: () => '/threads/search', body: {} },
  { power: 'deployments', method: 'GET', path: () => '/control/v1/deployments' },
  { power: 'deployments', method: 'POST', path: () => '/control/v1/deployments',
    body: { name: 'taken' } },
  { power: 'deployments', method: 'DELETE', path: () => '/control/v1/deployments/shop' },
  { power: 'platform', method: 'GET', path: () => '/api/v1/sessions' },
  { power: 'platform', method: 'GET', path: () => '/api/v1/workspaces/current/secrets' },
  { power: 'platform', method: 'POST', path: () => '/api/v1/runs/rules', body: {} },
]
