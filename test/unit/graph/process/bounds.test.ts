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
} as const satisfies Record<string, readonly [() => string, string | RegExp]>

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
    'a signal to the server': () => `process.kill(process.ppid, 0)`,
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
      .toEqual([...Object.keys(ofServer()), 'NODE_COMPILE_CACHE'].toSorted())
  })
})
