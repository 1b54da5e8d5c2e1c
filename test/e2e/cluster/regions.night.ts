/** Two regions in a box: no data of a tenant is ever found outside its home region. */

import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whatIsMissing } from '../../../scripts/cassandra/library.ts'
import type { RegionsDescription } from '../../../scripts/cluster/description.ts'
import { serverProgram } from '../../../scripts/server-program.ts'
import { everythingIn, rowsIn } from '../../support/cassandra-tables.ts'
import { firstFreePort } from '../../support/port.ts'
import { say } from '../../support/run-events.ts'
import { clientOf } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'

const root = resolve(import.meta.dirname, '../../..')
const addresses = { us: '127.0.0.141', eu: '127.0.0.142' } as const
const marks = { tenant: 'marked-tenant', metadata: 'marked-metadata', input: 'marked-input' }

describe.skipIf(await whatIsMissing() !== undefined)('two regions in a box', () => {
  let data: string
  let box: ChildProcess
  let said = ''
  let doors: Record<keyof typeof addresses, string>
  let key: string

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'heddle-regions-'))
    box = spawn(process.execPath, ['scripts/cluster/main.ts', '--regions', 'us,eu', '--members',
      '1', '--cassandra', '1', '--light', '--first-address', addresses.us, '--port',
      `${await firstFreePort(2)}`, '--data', data, '--config', 'test/support/projects/conformance'],
      { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    await new Promise<void>((serves, failed) => {
      const hear = (chunk: Buffer) => {
        said += chunk.toString()
        if (said.split('ends all, in order').length === 3) serves()
      }
      for (const stream of [box.stdout!, box.stderr!]) stream.on('data', hear)
      box.once('exit', () => failed(new Error(said)))
    })
    const { regions } = JSON.parse(
      readFileSync(join(data, 'cluster.json'), 'utf8'),
    ) as RegionsDescription
    doors = { us: regions['us']!.frontDoors[0]!, eu: regions['eu']!.frontDoors[0]! }
    key = await keyIn('us')
  }, 300_000)

  afterAll(async () => {
    if (box.exitCode === null) {
      box.kill('SIGINT')
      await once(box, 'exit')
    }
    rmSync(data, { recursive: true, force: true })
  })

  async function heddle(region: keyof typeof addresses, ...args: string[]): Promise<unknown> {
    const { stdout } = await promisify(execFile)(process.execPath, [serverProgram, ...args,
      '--store', 'cassandra', '--contact-points', addresses[region], '--local-datacenter', region,
      '--json'], { cwd: root })
    return JSON.parse(stdout) as unknown
  }

  async function keyIn(region: keyof typeof addresses,
    tenant: string = marks.tenant): Promise<string> {
    return (await heddle(region, 'keys', 'create', '--tenant', tenant) as { key: string }).key
  }

  const countIn = (region: keyof typeof addresses, table: string) =>
    rowsIn(
      { contactPoints: [addresses[region]], dataCenter: region, keyspace: 'heddle' },
      table,
    )

  const tablesOf = (region: keyof typeof addresses) =>
    everythingIn(
      { contactPoints: [addresses[region]], dataCenter: region, keyspace: 'heddle' },
    )

  it('refuse a key of the other one, and name its home region', async () => {
    for (const path of ['/threads/search', '/runs/wait']) {
      const { status, body } = await ask(doors.eu, 'POST', path, {
        metadata: { mark: marks.metadata },
      }, { 'x-api-key': key })
      expect(status).toBe(403)
      expect(body).toMatchObject({ detail: expect.any(String), url: doors.us })
    }
  })

  it('keep the data of a tenant in its home region', async () => {
    const client = clientOf(doors.us, { 'x-api-key': key })
    const { thread_id: id } = await client.threads.create({ metadata: { mark: marks.metadata } })
    await client.runs.wait(id, 'echo', { input: say(marks.input) })
    const [home, abroad] = await Promise.all([tablesOf('us'), tablesOf('eu')])
    const keyId = key.split('_')[2]!
    const hex = (text: string) => Buffer.from(text).toString('hex')
    const found = (all: string) =>
      [...Object.values(marks), id, keyId]
        .filter((text) => all.includes(text) || all.includes(hex(text)))
    expect(found(home)).toEqual([...Object.values(marks), id, keyId])
    expect(await countIn('us', 'billing')).toBe(1)
    expect(abroad.length).toBeGreaterThan(1_000)
    expect(found(abroad)).toEqual([])
    const log = readFileSync(join(data, 'eu', 'member-1', 'output.log'), 'utf8')
    expect(found(log)).toEqual([])
  })

  it('bill in us only', async () => {
    const tenant = 'in-both'
    for (const region of ['us', 'eu'] as const) {
      const client = clientOf(doors[region], { 'x-api-key': await keyIn(region, tenant) })
      const { thread_id: threadId } = await client.threads.create()
      await client.runs.wait(threadId, 'echo', { input: say('hello') })
      const [run] = await client.runs.list(threadId)
      const day = new Date(run!.updated_at).toISOString().slice(0, 10)
      const listed = await heddle(region, 'billing', '--tenant', tenant, '--day', day)
      expect(listed).toEqual(region === 'eu'
        ? []
        : [expect.objectContaining({ tenant, day, threadId, runId: run!.run_id })])
      const billed = await countIn(region, 'billing')
      if (region === 'eu') expect(billed).toBe(0)
      else expect(billed).toBeGreaterThan(0)
    }
  })

  it('create keys of their own, and refuse a server of another region', async () => {
    expect(await keyIn('eu')).toMatch(/^hdl_eu_/)
    for (const region of [[], ['--region', 'us']]) {
      const start = promisify(execFile)(process.execPath, [serverProgram, ...region, '--port', '0',
        '--store', 'cassandra', '--contact-points', addresses.eu, '--local-datacenter', 'eu',
        '--data', join(data, 'stray')], { cwd: root })
      const message = /^heddle: The keyspace heddle belongs to the region eu: .+\n$/
      await expect(start).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(message),
      })
    }
  })

  it('say their name, URL and addresses', async () => {
    const { body } = await ask(doors.eu, 'GET', '/info')
    expect(body).toMatchObject({
      region: { name: 'eu', api_url: doors.eu, egress: expect.any(Array),
        ingress: expect.any(Array) },
    })
  })

  it('report the health of what they depend on', async () => {
    const { status, body } = await ask(doors.us, 'GET', '/ok?check_db=1')
    const fine = { ok: true, ms: expect.any(Number) }
    expect({ status, body }).toEqual({ status: 200,
      body: { ok: true, dependencies: { store: fine, keys: fine, limits: fine } } })
  })

  it('are both shown by the status command', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/cluster/main.ts',
      'status', '--data', data], { cwd: root })
    expect(stdout).toMatch(/Region us:[^]+256 shards are known[^]+Region eu:[^]+256 shards are/)
  })
})
