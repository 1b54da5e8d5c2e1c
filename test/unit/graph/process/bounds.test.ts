/** What the code of a deployment may do in its process: as the page on isolation says. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startGraphProcess } from '../../../../src/graph/index.ts'
import type { GraphProcess } from '../../../../src/graph/index.ts'
import { hostFolder, logged, TestHost } from '../project/host-project.ts'
import { processOf } from './process-host.ts'

const extra = `
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
const require = createRequire(import.meta.url)
/** Evaluates code, and says how that ended. */
const tried = async (code) => {
  try {
    const body = \`return (async () => \${code})()\`
    return String(await new Function('require', 'process', body)(require, process))
  } catch (error) {
    return error.code ?? error.message
  }
}
export const attempt = one(({ url: code }) => tried(code))
/** The same in a thread that the graph starts. */
export const inThread = one(({ url: code }) => new Promise((resolve) => {
  const worker = new Worker(\`
    const { parentPort } = require('node:worker_threads')
    Promise.resolve().then(() => eval(\${JSON.stringify(code)})).then(
      (value) => parentPort.postMessage(String(value)),
      (error) => parentPort.postMessage(error.code ?? error.message))\`, { eval: true })
  worker.on('message', (said) => resolve(said))
}))
export const variables = one(() => JSON.stringify(process.env))
`
const denied = 'ERR_ACCESS_DENIED'
const unknown = 'ERR_UNKNOWN_BUILTIN_MODULE'

let test: TestHost<GraphProcess>
let outside: string
let cache: string
let cwd: string
const removals: (() => Promise<void>)[] = []

beforeAll(async () => {
  process.env.HEDDLE_CANARY = process.env.CANARY = 'of the server'
  process.env.TZ = 'Asia/Tokyo'
  outside = await mkdtemp(join(tmpdir(), 'heddle-outside-'))
  cache = await mkdtemp(join(tmpdir(), 'heddle-cache-'))
  await writeFile(join(outside, 'secret.txt'), 'secret')
  cwd = await hostFolder(extra, { OWN: 'project', BOTH: 'project' },
    (remove) => removals.push(remove))
  const options = processOf(cwd, { compileCache: cache,
    variables: { BOTH: 'deployment', KEY: 'value', NODE_OPTIONS: '--allow-fs-read=*',
      LD_PRELOAD: '/nowhere.so' } })
  test = new TestHost(options.env, await startGraphProcess(options))
})

afterAll(async () => {
  for (const name of ['HEDDLE_CANARY', 'CANARY', 'TZ']) delete process.env[name]
  await test?.host.close()
  for (const remove of removals) await remove()
  await rm(outside, { recursive: true })
  await rm(cache, { recursive: true })
})

/** What the server passes on of its own environment. */
function ofServer(): Record<string, string | undefined> {
  const names = ['TZ', 'LANG', 'LC_ALL', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY',
    'NODE_EXTRA_CA_CERTS']
  return Object.fromEntries(
    names.filter((name) => process.env[name] !== undefined).map((
      name,
    ) => [name, process.env[name]]),
  )
}

async function attempt(code: string, graphId = 'attempt'): Promise<unknown> {
  const run = test.run(graphId, { url: code })
  await run.end
  return logged(run)
}

/** By what it is, code and how it ends. */
const stopped = {
  'a read outside of its folder': [() => `require('fs').readFileSync('${outside}/secret.txt')`,
    denied],
  'a write into its folder': [() => `require('fs').writeFileSync('${cwd}/new.txt', '')`, denied],
  'a write outside': [() => `require('fs').writeFileSync('${outside}/new.txt', '')`, denied],
  'a picture of its memory': [() => `require('v8').writeHeapSnapshot('${outside}/heap')`, denied],
  'a report about its process': [() => `process.report.writeReport('${outside}/report')`, denied],
  'another process': [() => `require('child_process').execFileSync('true')`, denied],
  'another program in its place': [() => `require('process').execve?.('/bin/true', ['true'])`,
    /ERR_ACCESS_DENIED|ERR_WORKER_UNSUPPORTED_OPERATION|ERR_FEATURE_UNAVAILABLE_ON_PLATFORM/],
  'the inspector': [() => `require('inspector').open(0)`, /ERR_ACCESS_DENIED|ERR_INSPECTOR/],
  'native code': [() => `process.dlopen({ exports: {} }, '${cwd}/native.node')`,
    'ERR_DLOPEN_DISABLED'],
  'the database of Node, which opens any file': [() => `require('node:sqlite')`, unknown],
  'a thread with arguments of its own': [
    () => `new (require('worker_threads').Worker)('', { eval: true, execArgv: [] })`,
    denied,
  ],
  'a thread with options for Node': [
    () => `new (require('worker_threads').Worker)('', { eval: true, env: { NODE_OPTIONS: '' } })`,
    denied,
  ],
  'a thread of a class that it has found': [
    () =>
      `(() => {
        const { Worker } = require('worker_threads')
        const one = new Worker('', { eval: true })
        const Found = Object.getPrototypeOf(one).constructor
        return new Found('', { eval: true, execArgv: [] })
      })()`,
    denied,
  ],
  'a thread whose options change while they are read': [
    () =>
      `(() => {
        let reads = 0
        const options = { eval: true, get execArgv() { return reads++ ? [] : undefined } }
        new (require('worker_threads').Worker)('', options)
        return reads
      })()`,
    '1',
  ],
  'a Unix socket, at which other programs listen': [() => connecting(`net.connect('/run/x')`),
    'EACCES'],
  'a Unix socket for a request': [
    () => connecting(`require('http').request({ socketPath: '/run/x' })`),
    'EACCES',
  ],
  'a Unix socket for a secure connection': [
    () => connecting(`require('tls').connect({ path: '/run/x' })`),
    'EACCES',
  ],
  'a Unix socket without a path in the file system': [
    () => connecting(`new net.Socket().connect({ path: '\\0x' })`),
    'EACCES',
  ],
  'a Unix socket by the object below a socket': [
    () =>
      `(() => {
        const { Socket } = require('net')
        let pipe
        const socket = new Socket()
        Object.defineProperty(socket, '_handle', { set: (made) => { pipe = made; throw 0 } })
        try { socket.connect('/run/x') } catch {}
        return pipe.connect({}, '/run/x') < 0 && pipe.bind('/run/x') < 0
      })()`,
    'true',
  ],
  'a server at a Unix socket': [() => connecting(`net.createServer().listen('/tmp/heddle.sock')`),
    'EACCES'],
  'the bindings of Node': [() => `process.binding('pipe_wrap')`, denied],
  'a signal to the server': [() => `process.kill(process.ppid, 'SIGUSR1')`, 'EPERM'],
  'a signal to all processes of its group': [() => `process.kill(0, 0)`, 'EPERM'],
  'a signal by the function below': [() => `process._kill(process.ppid, 0) < 0`, 'true'],
  'a debugger of the server': [() => `process._debugProcess(process.ppid)`, denied],
  'the priority of the server': [() => `require('os').setPriority(process.ppid, 19)`, denied],
  'flags of V8': [() => `require('v8').setFlagsFromString('--allow-natives-syntax')`, denied],
  'module hooks in a thread of Node': [() => `require('module').register('data:text/javascript,')`,
    denied],
  'a class of threads that it finds by a replaced `Reflect.construct`': [
    () =>
      `(async () => {
        ${reading()}
        const { construct } = Reflect
        let Found
        Reflect.construct = (target, ...more) => construct(Found = target, ...more)
        try { new (require('worker_threads').Worker)('', { eval: true }) } finally {
          Reflect.construct = construct
        }
        return await readIn(Found ?? require('worker_threads').Worker, { execArgv: [] })
      })()`,
    denied,
  ],
  'arguments of a thread on `Object.prototype`': [
    () =>
      `(async () => {
        ${reading()}
        let reads = 0
        Object.defineProperty(Object.prototype, 'execArgv', { configurable: true,
          get: () => reads++ ? [] : undefined })
        try { return await readIn(require('worker_threads').Worker, {}) } finally {
          delete Object.prototype.execArgv
        }
      })()`,
    denied,
  ],
  'options for Node that replaced functions of strings and arrays let pass': [
    () =>
      `(async () => {
        ${reading()}
        const { some, includes } = Array.prototype
        const { toUpperCase } = String.prototype
        Array.prototype.some = Array.prototype.includes = () => false
        String.prototype.toUpperCase = () => 'X'
        try {
          const env = { NODE_OPTIONS: '--allow-fs-read=*' }
          return await readIn(require('worker_threads').Worker, { env })
        } finally {
          Object.assign(Array.prototype, { some, includes })
          Object.assign(String.prototype, { toUpperCase })
        }
      })()`,
    denied,
  ],
  'options for Node in an environment that changes while it is read': [
    () =>
      `(async () => {
        ${reading()}
        const real = process.env
        const other = { NODE_OPTIONS: '--allow-fs-read=*' }
        Object.defineProperty(process, 'env', { configurable: true, get: () => ({ ...other }) })
        try { return await readIn(require('worker_threads').Worker, {}) } finally {
          Object.defineProperty(process, 'env', { value: real, writable: true, enumerable: true,
            configurable: true })
        }
      })()`,
    denied,
  ],
  'the class of the system below a thread': [
    () =>
      `(() => {
        const one = new (require('worker_threads').Worker)('', { eval: true })
        const key = Object.getOwnPropertySymbols(one).find((each) => /kHandle/.test(String(each)))
        return String(one[key].constructor)
      })()`,
    'undefined',
  ],
  'guards of a thread from a cache that it writes': [
    () =>
      `(async () => {
        const { Worker } = require('worker_threads')
        const env = { NODE_COMPILE_CACHE: '${cache}/own' }
        await new Promise((ended) => new Worker('', { eval: true, env }).on('exit', ended))
        const { readdirSync, readFileSync } = require('fs')
        return readdirSync('${cache}', { recursive: true, withFileTypes: true })
          .filter((each) => each.isFile())
          .some(({ parentPath, name }) =>
            String(readFileSync(parentPath + '/' + name)).includes('cannot be started with'))
      })()`,
    'false',
  ],
} as const satisfies Record<string, readonly [() => string, string | RegExp]>

/** Resolves with the code of the error by which a socket or a server of an expression fails. */
function connecting(expression: string): string {
  return `new Promise((resolve) => {
    const net = require('net')
    const socket = ${expression}
    socket.on('error', ({ code }) => resolve(code)).on('connect', () => resolve('open'))
    socket.on('listening', () => socket.close(() => resolve('open')))
  })`
}

/** Code that defines a function which reads the secret in a thread. */
function reading(): string {
  const inThread = `const { parentPort } = require('worker_threads')
    try {
      require('fs').readFileSync('${outside}/secret.txt')
      parentPort.postMessage('open')
    } catch ({ code }) { parentPort.postMessage(code) }`
  return `const readIn = (Class, options) => new Promise((resolve, reject) => {
    new Class(${JSON.stringify(inThread)}, { ...options, eval: true })
      .on('message', resolve).on('error', reject)
  })`
}

describe('a deployment is stopped at', () => {
  it.each(Object.entries(stopped))('%s', async (_, [code, end]) => {
    expect(await attempt(code())).toMatch(end)
  })

  it.each(Object.entries(stopped))('%s, in a thread that it starts', async (_, [code, end]) => {
    expect(await attempt(code(), 'inThread')).toMatch(end)
  })

  it('what a variable of a thread would permit', async () => {
    const code = `(() => {
      process.env.NODE_OPTIONS = '--allow-fs-read=*'
      const { Worker } = require('worker_threads')
      const code = "require('fs').readFileSync('${outside}/secret.txt')"
      return new Promise((resolve) => {
        const worker = new Worker(code, { eval: true })
        worker.on('error', ({ code }) => resolve(code)).on('exit', resolve)
      }).finally(() => delete process.env.NODE_OPTIONS)
    })()`
    expect(await attempt(code)).toBe(denied)
  })
})

describe('a deployment is not stopped at', () => {
  it.each(Object.entries<() => string>({
    'a read of its own files': () => `require('fs').existsSync('${cwd}/langgraph.json')`,
    'the files that tell native packages about the system': () =>
      `(() => {
        const { existsSync } = require('fs')
        return ['/etc/alpine-release', '/etc/os-release', '/usr/lib/os-release', '/usr/bin/ldd',
          '/etc/debian_version', '/proc/self/exe'].every((each) => existsSync(each) !== undefined)
      })()`,
    'relative paths from its folder': () => `require('fs').existsSync('graphs.js')`,
    'the network': () => `require('net').createServer().listen(0).close().listening === false`,
    'a signal to itself': () => `process.kill(process.pid, 0)`,
    'its own priority': () => `require('os').setPriority(0, 10) === undefined`,
    'the flag of V8 that packages set': () =>
      `require('v8').setFlagsFromString('--expose-gc') === undefined`,
    'a write to the compile cache': () =>
      `require('fs').writeFileSync('${cache}/x', '') === undefined`,
  }))('%s', async (_, code) => {
    expect(await attempt(code())).toBe('true')
  })
})

describe('its environment', () => {
  it('has its variables and a few of the server, and no more', async () => {
    const run = test.run('variables', {})
    await run.end
    expect(JSON.parse(logged(run) as string)).toEqual({ ...ofServer(), OWN: 'project',
      BOTH: 'deployment', KEY: 'value', LD_PRELOAD: '/nowhere.so', NODE_COMPILE_CACHE: cache })
    expect(ofServer()).toMatchObject({ TZ: 'Asia/Tokyo' })
  })

  it('is not what others of its user can read of its process', async () => {
    const text = await readFile(`/proc/${test.host.pid}/environ`, 'utf8')
    const names = text.split('\0').filter(Boolean).map((each) => each.split('=', 1)[0])
    expect(names.toSorted())
      .toEqual([...Object.keys(ofServer()), 'HEDDLE_COMPILE_CACHE'].toSorted())
  })
})
