/** `npm run cluster`: what it decides and prints, and how it keeps members running. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { bannerIn, refusalIn } from '../../../scripts/cluster/banner.ts'
import { readDescription, removeDescription,
  writeDescription } from '../../../scripts/cluster/description.ts'
import type { ClusterDescription, MemberDescription } from '../../../scripts/cluster/description.ts'
import { MemberProcess } from '../../../scripts/cluster/member-process.ts'
import { requestFrom } from '../../../scripts/cluster/options.ts'
import type { StartRequest } from '../../../scripts/cluster/options.ts'
import { requestsOf } from '../../../scripts/cluster/regions.ts'
import { statusLines } from '../../../scripts/cluster/status.ts'
import type { ClusterReport } from '../../../scripts/cluster/status.ts'
import { Supervisor } from '../../../scripts/cluster/supervisor.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-cluster-'))
  writeFileSync(join(folder, 'langgraph.json'), '{}')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the command line', () => {
  const starter = import.meta.filename
  const asked = (...args: string[]) => requestFrom({ args, folder, starter })

  it('starts three members on three nodes from port 2024 on by default', () => {
    expect(asked()).toEqual({
      kind: 'start',
      members: 3,
      cassandra: 3,
      port: 2024,
      region: 'us',
      limits: 'off',
      regions: [],
      regionUrls: undefined,
      config: starter,
      data: join(folder, '.heddle/cluster'),
      firstAddress: undefined,
      light: false,
      restart: true,
    })
    expect(
      asked('--members', '2', '--cassandra=1', '--port', '80', '--region', 'eu', '--config', '.',
        '--data', 'd', '--first-address', '127.0.0.9', '--light', '--no-restart', '--limits', 'on'),
    ).toEqual({
      kind: 'start',
      members: 2,
      cassandra: 1,
      port: 80,
      region: 'eu',
      limits: 'on',
      config: folder,
      regions: [],
      regionUrls: undefined,
      data: join(folder, 'd'),
      firstAddress: '127.0.0.9',
      light: true,
      restart: false,
    })
  })

  it('may start several regions side by side', () => {
    const request = asked('--regions', 'us,eu', '--members', '2', '--port', '3000', '--data', 'd')
    expect(request).toMatchObject({ regions: ['us', 'eu'], limits: 'on' })
    const regionUrls = 'us=http://127.0.0.1:3000,eu=http://127.0.0.1:3002'
    expect(requestsOf(request as StartRequest)).toMatchObject([
      { region: 'us', regionUrls, port: 3000, firstAddress: '127.0.0.1',
        data: join(folder, 'd/us') },
      { region: 'eu', regionUrls, port: 3002, firstAddress: '127.0.0.4',
        data: join(folder, 'd/eu') },
    ])
  })

  it('may ask for the status, or for help', () => {
    expect(asked('status')).toEqual({ kind: 'status', data: join(folder, '.heddle/cluster') })
    expect(asked('status', '--data', 'd')).toEqual({ kind: 'status', data: join(folder, 'd') })
    expect(asked('--help')).toEqual({ kind: 'help' })
  })

  it.each([
    ['limits that are neither on nor off', ['--limits', 'maybe'], '--limits is on or off'],
    ['an unknown region', ['--regions', 'us,mars'], '--regions must list some of us, eu'],
    ['no member', ['--members', '0'], '--members must be a whole number from 1 to 64'],
    ['a number in words', ['--cassandra', 'three'], '--cassandra must be a whole number'],
    ['ports beyond the last one', ['--port', '65534'], 'from 1 to 65533, not "65534"'],
    ['a project that does not exist', ['--config', 'nowhere'], 'There is no '],
    ['a folder without a project', ['--config', 'empty'], 'There is no langgraph.json in '],
    ['a region with a space', ['--region', 'a b'], '--region is a name like us'],
    ['an unknown option', ['--nodes', '3'], "Unknown option '--nodes'; see --help."],
    ['an unknown command', ['stop'], 'There is no command "stop"'],
  ])('is refused in one sentence for %s', (_, args, message) => {
    mkdirSync(join(folder, 'empty'))
    expect(() => asked(...args)).toThrow(message)
    expect(() => asked(...args)).toThrow(/^[^\n]+\.$/)
  })
})

const member = (number: number): MemberDescription => ({
  pid: 100 + number,
  grpc: `127.0.0.1:400${number}`,
  http: `http://127.0.0.1:202${number}`,
  session: `session${number}-of-a-life`,
})
const description: ClusterDescription = {
  frontDoors: [member(1).http, member(2).http],
  members: [member(1), member(2)],
  cassandra: [{ pid: 7, address: '127.0.0.1' }],
}

describe('cluster.json', () => {
  it('describes a running cluster, and is removed with it', () => {
    writeDescription(folder, description)
    expect(readDescription(folder)).toEqual(description)
    removeDescription(folder)
    expect(() => readDescription(folder)).toThrow(`No cluster runs on ${folder}`)
  })
})

describe('the output of a member at its start', () => {
  const said = `
  heddle 0.1.0 serves at \x1b[36mhttp://127.0.0.1:2024\x1b[39m

  \x1b[2mgraphs  \x1b[22magent  deploy/starter/agent.ts
  \x1b[2mmember  \x1b[22m0a1b-2c at 127.0.0.1:40123
  docs    http://127.0.0.1:2024/docs
`
  it('has its addresses, once it is complete', () => {
    expect(bannerIn(said)).toEqual(
      { http: 'http://127.0.0.1:2024', session: '0a1b-2c', grpc: '127.0.0.1:40123' },
    )
    expect(bannerIn(said.slice(0, said.indexOf('123\n') + 1))).toBeUndefined()
  })

  it('has its addresses as a line of JSON, once that is complete', () => {
    const line = JSON.stringify({ url: 'http://127.0.0.1:2024',
      member: '0a1b-2c at 127.0.0.1:40123', message: 'Heddle is ready.' })
    expect(bannerIn(`{"message":"first"}\n${line}\n`)).toEqual(
      { http: 'http://127.0.0.1:2024', session: '0a1b-2c', grpc: '127.0.0.1:40123' },
    )
    expect(bannerIn(line)).toBeUndefined()
  })

  it('has the reason if the member does not serve', () => {
    expect(refusalIn('{"level":30}\nheddle: Port 1 is in use.\n{"level":40}\n'))
      .toBe('Port 1 is in use.')
    expect(refusalIn('one\ntwo\n')).toBe('two')
  })
})

describe('the status', () => {
  const self = (number: number) => ({ id: member(number).session, address: member(number).grpc })
  const owned = (shard: number, epoch: number, number: number) => ({ shard, epoch,
    session: self(number).id, address: self(number).address })
  const report = (number: number, shards: ClusterReport['shards']): ClusterReport => ({
    member: self(number),
    view: [self(1), self(2)],
    shards,
  })

  const linesOf = (one: ClusterReport | string, two: ClusterReport | string) =>
    statusLines(description, [{ member: member(1), report: one }, { member: member(2),
      report: two }])

  it('has the shards of each member and their epochs', () => {
    const shards = [owned(0, 1, 1), owned(1, 4, 1), owned(2, 2, 2)]
    expect(linesOf(report(1, shards), report(2, shards))).toEqual([
      '  member  pid  session   front door             gRPC            sees    shards  epochs',
      '  1       101  session1  http://127.0.0.1:2021  127.0.0.1:4001  2 of 2  2       1 to 4',
      '  2       102  session2  http://127.0.0.1:2022  127.0.0.1:4002  2 of 2  1       2',
      '',
      '  3 shards are known, 0 of them without an owner.',
      '  Cassandra: 127.0.0.1 (pid 7).',
    ])
  })

  it('believes the newest owner if members disagree', () => {
    const lines = linesOf(report(1, [owned(0, 1, 1)]), report(2, [owned(0, 2, 2)]))
    expect(lines[1]).toMatch(/2 of 2 {2}0 {7}-$/)
    expect(lines[2]).toMatch(/2 of 2 {2}1 {7}2$/)
  })

  it('has members that do not answer, owners that are gone, and shards without an owner', () => {
    const given = { shard: 1, epoch: 5, session: null, address: null }
    const lines = linesOf(report(1, [owned(0, 3, 3), given]), 'does not answer: ECONNREFUSED')
    expect(lines[2]).toMatch(/does not answer: ECONNREFUSED$/)
    expect(lines[3]).toMatch(/^ {2}- +- +session3 +- +127.0.0.1:4003 +no member +1 +3$/)
    expect(lines).toContain('  2 shards are known, 1 of them without an owner.')
  })
})

describe('a member', () => {
  const serving = "console.log('serves at http://127.0.0.1:1');" +
    "console.log('  member  s' + process.pid + ' at 127.0.0.1:2'); setInterval(() => 0, 1e6)"
  const lines: string[] = []
  const served: (number | undefined)[] = []
  const supervised = (code: string, restart: boolean) =>
    new Supervisor({
      process: new MemberProcess({ command: ['-e', code], directory: join(folder, 'member') }),
      name: 'Member 1',
      restart,
      log: (line) => lines.push(line),
      changed: (found) => served.push(found?.pid),
    })
  beforeEach(() => {
    lines.length = served.length = 0
  })

  it('that does not start fails with its reason', async () => {
    const member = supervised("console.error('heddle: It is too late.'); process.exit(2)", true)
    await expect(member.start()).rejects.toThrow(/^Member 1 did not start: It is too late\.$/)
    await member.end()
  })

  it('is started again if it dies, and ends when it is asked to', async () => {
    const member = supervised(serving, true)
    await member.start()
    process.kill(served[0]!, 'SIGKILL')
    await expect.poll(() => served.length).toBe(3)
    expect(served).toEqual([expect.any(Number), undefined, expect.any(Number)])
    expect(served[2]).not.toBe(served[0])
    await member.end()
    expect(() => process.kill(served[2]!, 0)).toThrow('ESRCH')
    expect(served.at(-1)).toBeUndefined()
    expect(lines).toEqual([
      'Member 1 ended by itself (SIGKILL); it is started again in 1 s.',
      'Member 1 serves again at http://127.0.0.1:1.',
    ])
  })

  it('is not started again with --no-restart', async () => {
    const member = supervised(serving, false)
    await member.start()
    process.kill(served[0]!, 'SIGKILL')
    await expect.poll(() => lines).toEqual([
      expect.stringMatching(/^Member 1 ended by itself \(SIGKILL\); see .*output\.log\.$/),
    ])
    await member.end()
  })
})
