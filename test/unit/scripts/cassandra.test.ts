/** What `npm run cassandra` decides before any node runs. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { cassandraYaml, javaArguments } from '../../../scripts/cassandra/configuration.ts'
import type { NodeOptions } from '../../../scripts/cassandra/configuration.ts'
import { placesOf } from '../../../scripts/cassandra/layout.ts'
import { endLeftovers, takeDirectory } from '../../../scripts/cassandra/leftovers.ts'

describe('the places of nodes', () => {
  it('are consecutive addresses with evenly spaced tokens', () => {
    expect(placesOf({ nodes: 3, firstAddress: '127.0.0.11' })).toEqual([
      { address: '127.0.0.11', token: '-9223372036854775808' },
      { address: '127.0.0.12', token: '-3074457345618258603' },
      { address: '127.0.0.13', token: '3074457345618258602' },
    ])
  })

  it.each([
    ['no node', 0, '127.0.0.1'],
    ['half a node', 1.5, '127.0.0.1'],
    ['NaN nodes', Number.NaN, '127.0.0.1'],
    ['an address that is not loopback', 1, '192.0.2.1'],
    ['more nodes than addresses', 3, '127.0.0.253'],
  ])('are refused for %s', (_, nodes, firstAddress) => {
    expect(() => placesOf({ nodes, firstAddress })).toThrow('127.0.0.1 to 127.0.0.254')
  })
})

describe('the configuration of a node', () => {
  const options: NodeOptions = {
    place: { address: '127.0.0.12', token: '42' },
    seed: '127.0.0.11',
    directory: '/data/node "b"',
    dataCenter: 'us',
    light: false,
    passwords: false,
    fleeting: false,
  }

  it('has its address, token, folders and seed', () => {
    const lines = cassandraYaml(options).split('\n')
    expect(lines).toEqual(expect.arrayContaining([
      'listen_address: 127.0.0.12',
      'rpc_address: 127.0.0.12',
      'initial_token: "42"',
      '      - seeds: "127.0.0.11:7000"',
      'commitlog_directory: "/data/node \\"b\\"/commitlog"',
    ]))
  })

  it('acknowledges no write that is not on disk', () => {
    expect(cassandraYaml(options)).toContain('commitlog_sync: group\n')
  })

  it('requires passwords only if asked to', () => {
    expect(cassandraYaml(options)).toContain('authenticator: AllowAllAuthenticator')
    expect(cassandraYaml({ ...options, passwords: true })).toContain('PasswordAuthenticator')
  })

  it('restricts the compiler only for a light node', () => {
    const flag = '-XX:TieredStopAtLevel=1'
    expect(javaArguments(options, '/jars')).not.toContain(flag)
    expect(javaArguments({ ...options, light: true }, '/jars')).toContain(flag)
  })

  it('keeps its tables over a restart, unless there will be none', () => {
    const flag = '-Dcassandra.unsafesystem=true'
    expect(javaArguments(options, '/jars')).not.toContain(flag)
    expect(javaArguments({ ...options, fleeting: true }, '/jars')).toContain(flag)
  })
})

describe('a data directory', () => {
  let directory: string
  let left: ChildProcess
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'heddle-leftovers-'))
  })
  afterEach(() => {
    left?.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })

  /** Starts a process that looks like a node on that data. */
  async function leaveNode(storage: string): Promise<void> {
    const node = join(directory, 'node-a')
    mkdirSync(node)
    left = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => 0, 1e6)', 'node',
      `-Dcassandra.storagedir=${storage}`], { stdio: ['ignore', 'pipe', 'ignore'] })
    writeFileSync(join(node, 'node.pid'), String(left.pid))
    await once(left.stdout!, 'data')
  }

  /** Expects the process to be alive: it ends by this signal, not by an earlier one. */
  async function expectThatItLived(): Promise<void> {
    left.kill('SIGINT')
    await once(left, 'exit')
    expect(left.signalCode).toBe('SIGINT')
  }

  it('is freed of the nodes that a killed starter left behind', async () => {
    await leaveNode(join(directory, 'node-a'))
    await endLeftovers(directory)
    if (left.signalCode === null) await once(left, 'exit')
    expect(left.signalCode).toBe('SIGKILL')
  })

  it('is refused while its starter is alive', async () => {
    await leaveNode(join(directory, 'node-a'))
    writeFileSync(join(directory, 'starter.pid'), String(process.pid))
    await expect(endLeftovers(directory)).rejects.toThrow(`Process ${process.pid} runs nodes`)
    await expectThatItLived()
  })

  it('is freed without ending a process that has the id of an ended node', async () => {
    await leaveNode(join(directory, 'another'))
    await endLeftovers(directory)
    await expectThatItLived()
  })

  it('is refused for a cluster with another number of nodes', () => {
    takeDirectory(directory, '3 nodes')
    takeDirectory(directory, '3 nodes')
    expect(() => takeDirectory(directory, 'one node')).toThrow('has the data of 3 nodes')
  })
})
