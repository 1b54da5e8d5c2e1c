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

/** Resolves if a thread with its own, empty environment executes code without an error. */
const inEmptyThread = (code: string, more = '{}') =>
  `new Promise((resolve, reject) => {
    const file = new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)})
    new (require('worker_threads').Worker)(file, { env: {}, ...${more} }).on('error', reject)
      .on('exit', (status) => status === 0 ? resolve('done') : reject(new Error('ended')))
  })`

const databaseReading = (dataDir: string) =>
  `import { readFileSync } from 'node:fs'; readFileSync('${dataDir}/heddle.db')`

/** Resolves if a hook of the module loader returns the content of a file. */
const loadedByHook = (path: string) =>
  `(() => {
    const load = (url, context, next) => {
      if (!url.endsWith('${path}')) return next(url, context)
      const source = JSON.stringify(String(next(url, { ...context, format: 'commonjs' }).source))
      return { format: 'json', source, shortCircuit: true }
    }
    const resolve = (name, context, next) => name === 'stolen'
      ? { url: 'file://${path}', format: 'json', shortCircuit: true }
      : next(name, context)
    const hooks = require('module').registerHooks({ load, resolve })
    try { return require('stolen') } finally { hooks.deregister() }
  })()`

/** Resolves if a debugger in this process, or of its main thread, evaluates an expression. */
const evaluated = (connect: string) =>
  `new Promise((resolve, reject) => {
    const session = new (require('inspector').Session)()
    session.${connect}()
    session.post('Runtime.evaluate', { expression: 'process.pid' },
      (error, value) => error ? reject(error) : resolve(value))
  })`

/** Resolves if a test passes in a process of its own. */
const runnerPasses = `new Promise((resolve, reject) => require('node:test').run({
    files: [process.cwd() + '/agent.ts'] })
    .on('test:pass', resolve).on('test:fail', reject).on('end', reject).on('error', reject)
    .resume())`

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
  { power: 'files', name: 'a thread of a file with an environment of its own',
    code: ({ dataDir }) => inEmptyThread(databaseReading(dataDir)) },
  { power: 'files', name: 'a thread of a file with arguments',
    code: ({ dataDir }) => inEmptyThread(databaseReading(dataDir), '{ execArgv: [] }') },
  { power: 'files', name: 'a file as a dotenv file',
    code: ({ dataDir }) => `process.loadEnvFile('${dataDir}/heddle.sock-secret')` },
  { power: 'files', name: 'a file by a hook of the module loader',
    code: ({ dataDir }) => loadedByHook(`${dataDir}/heddle.sock-secret`) },
  { power: 'files', name: 'a file by the object of the system',
    code: () => `process.binding('fs').open('/etc/passwd', 0, 0o666)` },
  { power: 'files', name: 'a link in its compile cache', code: () =>
    `(() => {
        const link = process.env.NODE_COMPILE_CACHE + '/link'
        require('fs').symlinkSync('/etc/passwd', link)
        return require('fs').readFileSync(link)
      })()` },
  { power: 'files', name: 'the names in a folder',
    code: ({ dataDir }) => `require('fs').opendirSync('${dataDir}').readSync()` },
  { power: 'files', name: 'changes of a folder',
    code: ({ dataDir }) => `require('fs').watch('${dataDir}').close()` },
  { power: 'files', name: 'the mode of an open file',
    code: () =>
      `require('fs').fchmodSync(require('fs').openSync(process.cwd() + '/agent.ts'), 0o600)` },
  { power: 'files', name: 'a report of the process',
    code: ({ dataDir }) => `process.report.writeReport('${dataDir}/report.json')` },
  { power: 'files', name: 'a snapshot of the heap',
    code: ({ dataDir }) => `require('v8').writeHeapSnapshot('${dataDir}/x.heapsnapshot')` },
  { power: 'processes', name: 'a program',
    code: () => `require('child_process').execFileSync('/bin/true')` },
  { power: 'processes', name: 'a program in the place of its own process',
    code: () => `process.execve('/bin/true', ['/bin/true'])` },
  { power: 'processes', name: 'a program by the object of the system', code: () =>
    `(() => {
        const { error } = process.binding('spawn_sync').spawn({ file: '/bin/true',
          args: ['/bin/true'], stdio: [{ type: 'ignore' }] })
        if (error) throw new Error(String(error))
      })()` },
  { power: 'processes', name: 'a member of a cluster of processes',
    code: () =>
      `new Promise((resolve, reject) => require('cluster').fork().on('error', reject)
        .on('online', resolve).on('exit', reject))` },
  { power: 'processes', name: 'a runner of tests', code: () => runnerPasses },
  { power: 'processes', name: 'a debugger of its own thread', code: () => evaluated('connect') },
  { power: 'processes', name: 'a debugger of the main thread of its process',
    code: () => evaluated('connectToMainThread') },
  { power: 'processes', name: 'a port for debuggers',
    code: () => `require('inspector').open(0, '127.0.0.1')` },
  { power: 'processes', name: 'a signal from a thread with its own environment',
    code: ({ pid }) => inEmptyThread(`process.kill(${pid}, 0)`) },
  { power: 'processes', name: 'an extension of SQLite',
    code: ({ dataDir }) =>
      `new (require('node:sqlite').DatabaseSync)(':memory:', { allowExtension: true })
        .loadExtension('${dataDir}/extension.so')` },
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
  { power: 'network', name: 'a Unix socket from a thread with its own environment',
    code: ({ foreignSocket }) =>
      inEmptyThread(`import { connect } from 'node:net'
        connect('${foreignSocket}').on('error', (error) => { throw error })`) },
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
