/** The command `npm run cluster`, with real members on a real node of Cassandra. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whatIsMissing } from '../../scripts/cassandra/library.ts'
import { readDescription } from '../../scripts/cluster/description.ts'
import { firstFreePort } from '../support/port.ts'
import { say, texts } from '../support/run-events.ts'
import { clientOf } from '../support/server.ts'

const root = resolve(import.meta.dirname, '../..')
const firstAddress = '127.0.0.38'
const memberCount = 2

let data: string
const started: ChildProcess[] = []
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'heddle-box-'))
})
afterAll(() => {
  for (const program of started) program.kill('SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

function command(...args: string[]): ChildProcess {
  const program = spawn(process.execPath, ['scripts/cluster/main.ts', ...args], { cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(program)
  return program
}

/** The error output of a command that must fail. */
async function refusal(program: ChildProcess): Promise<string> {
  const [said, [code]] = await Promise.all([text(program.stderr!), once(program, 'exit')])
  expect(code).toBe(1)
  expect(said).toMatch(/^[^\n]+\.\n$/)
  return said
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('prints its help, and refuses in one sentence what it cannot do', async () => {
  const help = command('--help')
  expect(await text(help.stdout!)).toContain('npm run cluster -- status')
  expect(await refusal(command('--config', 'nowhere'))).toContain('There is no ')
  expect(await refusal(command('status', '--data', data))).toContain('No cluster runs on ')
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  try {
    expect(await refusal(command('--members', '1', '--port', `${port}`, '--data', data)))
      .toContain(`Port ${port} is taken`)
  } finally {
    taken.close()
  }
})

describe.skipIf(await whatIsMissing() !== undefined)('a cluster in a box', () => {
  let box: ChildProcess
  let said = ''

  it('serves every thread at every front door', async () => {
    box = command('--members', `${memberCount}`, '--cassandra', '1', '--light', '--region', 'eu',
      '--first-address', firstAddress, '--port', `${await firstFreePort(memberCount)}`, '--data',
      data, '--config', 'test/support/projects/conformance')
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
    }
    box.stdout!.on('data', hear)
    box.stderr!.on('data', hear)
    await expect.poll(() => said, { timeout: 170_000 }).toContain('ends all, in order')
    const { frontDoors, members, cassandra } = readDescription(data)
    expect(members).toHaveLength(memberCount)
    expect(cassandra).toEqual([{ pid: expect.any(Number), address: firstAddress }])
    expect(frontDoors).toEqual(members.map(({ http }) => http))
    for (const { http, pid } of members) expect(said).toContain(`${http}  ${pid}`)
    const [first, last] = [clientOf(frontDoors[0]!), clientOf(frontDoors.at(-1)!)]
    const { thread_id: id } = await first.threads.create()
    await first.runs.wait(id, 'echo', { input: say('one') })
    expect(texts(await last.runs.wait(id, 'echo', { input: say('two') })))
      .toEqual(['one', 'echo: one', 'two', 'echo: two'])
  })

  it('shows how many shards each member owns', async () => {
    const owned = async () =>
      [...(await text(command('status', '--data', data).stdout!))
        .matchAll(/ of 2 {2}(\d+) /g)].map(([, shards]) => Number(shards))
    const areShared = (counts: readonly number[]) =>
      Math.min(...counts) > 50
      && counts.reduce((sum, count) => sum + count, 0) === 256
    await expect.poll(owned).toSatisfy(areShared)
  })

  it('restarts a member that dies, and says so', async () => {
    const [victim] = readDescription(data).members
    process.kill(victim!.pid, 'SIGKILL')
    await expect.poll(() => said).toContain('Member 1 serves again at')
    const { members } = readDescription(data)
    expect(members[0]).toMatchObject({ http: victim!.http })
    expect(members[0]!.session).not.toBe(victim!.session)
    expect(said).toContain('Member 1 ended by itself (SIGKILL); it is started again in 1 s.')
  })

  it('ends everything on one signal, the members first', async () => {
    const { members, cassandra } = readDescription(data)
    box.kill('SIGINT')
    const [code] = await once(box, 'exit')
    expect(code).toBe(0)
    for (const { pid } of [...members, ...cassandra]) expect(isAlive(pid)).toBe(false)
    expect(said.indexOf('Ending the members')).toBeLessThan(said.indexOf('Ending Cassandra'))
    expect(said).not.toContain('ended by itself (exit')
    expect(existsSync(join(data, 'cluster.json'))).toBe(false)
  })
})
