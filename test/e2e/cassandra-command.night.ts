/** The command `npm run cassandra` and its parts, with a real node. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

import { Client } from 'cassandra-driver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../scripts/cassandra/library.ts'

const root = resolve(import.meta.dirname, '../..')
const firstAddress = '127.0.0.36'

const starters: ChildProcess[] = []
let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-cassandra-command-'))
})
afterAll(() => {
  for (const starter of starters) starter.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

function command(...args: string[]): ChildProcess {
  const program = spawn(process.execPath, ['scripts/cassandra/main.ts', '--light', '--json',
    '--nodes', '1', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  starters.push(program)
  return program
}

/** The error output of a command that must fail, without its progress. */
async function refusal(program: ChildProcess): Promise<string> {
  const [said, [code]] = await Promise.all([text(program.stderr!), once(program, 'exit')])
  expect(code).toBe(1)
  return said.trim().split('\n').at(-1)!
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function ask(cql: string): Promise<readonly unknown[]> {
  const client = new Client({ contactPoints: [firstAddress], localDataCenter: 'us' })
  try {
    return (await client.execute(cql)).rows ?? []
  } finally {
    await client.shutdown()
  }
}

it('says in one sentence what the machine lacks', async () => {
  const program = spawn(process.execPath, ['scripts/cassandra/main.ts'], { cwd: root,
    env: { ...process.env, JAVA_HOME: directory } })
  expect(await refusal(program)).toMatch(/^Cassandra needs Java 17, and here is none: .*\.$/)
})

describe.skipIf(await whatIsMissing() !== undefined)('a cluster of one', () => {
  let pid: number

  it('tells programs when it is ready', async () => {
    const starter = command('--data', directory, '--first-address', firstAddress)
    const [line] = await once(starter.stdout!, 'data')
    const ready = JSON.parse(String(line))
    expect(ready).toEqual({ contactPoints: [firstAddress], dataCenter: 'us',
      pids: [expect.any(Number)] })
    pid = ready.pids[0]
    await ask("CREATE KEYSPACE a WITH replication = {'class': 'SimpleStrategy'," +
      " 'replication_factor': 1}")
    await ask('CREATE TABLE a.kept (id int PRIMARY KEY)')
    await ask('INSERT INTO a.kept (id) VALUES (1)')
  })

  it('refuses others its data and its addresses', async () => {
    expect(await refusal(command('--data', directory, '--first-address', '127.0.0.37')))
      .toContain('runs nodes on')
    expect(await refusal(command('--first-address', firstAddress)))
      .toContain(`${firstAddress}:9042 is taken`)
  })

  it('ends when its starter is killed, and leaves its data', async () => {
    expect(isAlive(pid)).toBe(true)
    starters[0]!.kill('SIGKILL')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('has its data again after a restart, of all or of one node', async () => {
    const cluster = await startCassandra({ nodes: 1, directory, firstAddress, light: true })
    try {
      expect(await ask('SELECT id FROM a.kept')).toHaveLength(1)
      await ask('INSERT INTO a.kept (id) VALUES (2)')
      await cluster.nodes[0]!.kill('SIGKILL')
      await cluster.nodes[0]!.start()
      await cluster.whole()
      expect(await ask('SELECT id FROM a.kept')).toHaveLength(2)
    } finally {
      await cluster.close()
    }
  })
})
