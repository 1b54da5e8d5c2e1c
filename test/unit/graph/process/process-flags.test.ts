/** How graph processes are started, and what the death of one means. */

import { describe, expect, it } from 'vitest'

import { lossOf } from '../../../../src/graph/process/loss.ts'
import { graphsSee, heapOfWorker, processFlags,
  processSees } from '../../../../src/graph/process/process-flags.ts'

const bounds = { folder: '/revision', allowsAddons: false, memoryMb: 512, ownCode: ['/heddle'],
  preloads: ['/heddle/guard.ts', '/heddle/cache.ts'], replays: false, knows: () => true }

describe('the flags', () => {
  it('permit the revision, our own code and a few system files to be read, and threads', () => {
    const system = ['/etc/alpine-release', '/etc/os-release', '/usr/lib/os-release',
      '/etc/debian_version', '/usr/bin/ldd', '/proc/self/exe']
    expect(processFlags(bounds).filter((flag) => flag.startsWith('--allow')))
      .toEqual([...['/revision', '/heddle', ...system].map((path) => `--allow-fs-read=${path}`),
        '--allow-worker', '--allow-net'])
  })

  it('permit native code and the compile cache where they are asked for', () => {
    const flags = processFlags({ ...bounds, allowsAddons: true, compileCache: '/cache' })
    expect(flags).toContain('--allow-addons')
    expect(flags).toContain('--allow-fs-write=/cache')
  })

  it('load the guards of each thread before its compile cache', () => {
    expect(processFlags(bounds).filter((flag) => flag.startsWith('--require')))
      .toEqual(['--require=/heddle/guard.ts', '--require=/heddle/cache.ts'])
  })

  it('let a replay load no native code and write no file', () => {
    const flags = processFlags({ ...bounds, replays: true, allowsAddons: true,
      compileCache: '/cache' })
    expect(flags.filter((flag) => /addons|write|net/.test(flag))).toEqual([])
  })

  it('leave out what this version of Node does not know', () => {
    const flags = processFlags({ ...bounds, knows: () => false })
    expect(flags.filter((flag) => /net|sqlite/.test(flag))).toEqual([])
  })
})

describe('the environment', () => {
  const server = { TZ: 'UTC', HEDDLE_CLUSTER_SECRET: 'hush', HTTPS_PROXY: 'http://a' }
  const variables = { TZ: 'Asia/Tokyo', KEY: 'k', NODE_OPTIONS: '--x', LD_PRELOAD: '/x' }

  it('of graphs is that of the deployment over a few names of the server', () => {
    expect(graphsSee({ variables }, server))
      .toEqual({ TZ: 'Asia/Tokyo', HTTPS_PROXY: 'http://a', KEY: 'k', LD_PRELOAD: '/x' })
  })

  it('has a home where the user is one that the system does not know', () => {
    const of = { variables: {}, user: 70_000, compileCache: '/c' }
    expect(processSees(of, server)).toMatchObject({ HOME: '/c' })
    expect(graphsSee(of, server)).toMatchObject({ HOME: '/c' })
    expect(graphsSee({ ...of, variables: { HOME: '/x' } }, server)).toMatchObject({ HOME: '/x' })
    expect(processSees({ ...of, user: undefined }, server)).not.toHaveProperty('HOME')
  })

  it('that the process is started with has no secret, and nothing that changes it', () => {
    expect(processSees({ variables, compileCache: '/c' }, server))
      .toEqual({ TZ: 'Asia/Tokyo', HTTPS_PROXY: 'http://a', HEDDLE_COMPILE_CACHE: '/c' })
  })

  it('of a process has the certificates that the deployment brings', () => {
    const named = { NODE_EXTRA_CA_CERTS: '/etc/shadow' }
    const sees = (ofServer: object, certificates?: string) =>
      processSees({ variables: named }, { ...ofServer }, certificates)
    expect(sees({})).toEqual({})
    expect(sees({ NODE_EXTRA_CA_CERTS: '/ca.pem' })).toEqual({ NODE_EXTRA_CA_CERTS: '/ca.pem' })
    expect(sees({ NODE_EXTRA_CA_CERTS: '/ca.pem' }, '/revision/own.pem'))
      .toEqual({ NODE_EXTRA_CA_CERTS: '/revision/own.pem' })
  })

  it('opens no compile cache before the guards of a process are loaded', () => {
    const of = { variables, compileCache: '/c' }
    expect(processSees(of, server)).not.toHaveProperty('NODE_COMPILE_CACHE')
    expect(graphsSee(of, server)).toMatchObject({ NODE_COMPILE_CACHE: '/c' })
  })
})

it('Workers may fill less than the process, and never less than a project needs.', () => {
  expect(heapOfWorker(512, 2)).toBe(128)
  expect(heapOfWorker(1_024, 1)).toBe(816)
  expect(heapOfWorker(128, 4)).toBe(96)
})

it.each([
  ['crashed', { cause: 'ended', isApart: false, executions: 3, remembers: true }],
  ['crashed', { cause: 'ended', isApart: true, executions: 1, remembers: true }],
  ['full', { cause: 'memory', isApart: true, executions: 1, remembers: true }],
  ['displaced', { cause: 'memory', isApart: false, executions: 1, remembers: true }],
  ['full', { cause: 'memory', isApart: false, executions: 1, remembers: false }],
  ['crashed', { cause: 'memory', isApart: false, executions: 2, remembers: false }],
] as const)('An execution is lost as %s after %o.', (reason, death) => {
  expect(lossOf(death)).toBe(reason)
})
