/** Users that a server of root chooses for the code of its deployments. */

import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { blocksFor, claim, findUsers,
  requireReadable } from '../../../../src/server/graphs-users/default-users.ts'
import { virtualEnv } from '../../../support/env.ts'

async function folderOf(mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-default-users-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await chmod(folder, mode)
  return folder
}

describe('The blocks of a server', () => {
  it('are 200 blocks of 100 ids from 80000 to 99999, each of them once', () => {
    const firsts = blocksFor('/data').map(({ first }) => first)
    expect(firsts.toSorted()).toEqual(Array.from({ length: 200 }, (_, at) => 80_000 + 100 * at))
    expect(blocksFor('/data').every(({ first, last }) => last - first === 99)).toBe(true)
  })

  it('start at the same block for the same directory, and elsewhere for another', () => {
    expect(blocksFor('/data')).toEqual(blocksFor('/data'))
    expect(blocksFor('/data')[0]).not.toEqual(blocksFor('/other')[0])
  })
})

it.runIf(process.platform === 'linux')('gives a block to one server of a machine only',
  async () => {
    // No server takes such ids.
    const first = 1_000_000_000 + process.pid
    expect(await claim({ first, last: first })).toBe(true)
    expect(await claim({ first, last: first })).toBe(false)
  })

it('names the first folder that other users cannot pass', async () => {
  const closed = await folderOf(0o700)
  const open = join(closed, 'open')
  await mkdir(open, { mode: 0o755 })
  expect(() => requireReadable([], [open])).toThrow(`Other users cannot read ${closed}.`)
  expect(() => requireReadable([closed], [])).toThrow(`Other users cannot read ${closed}.`)
  expect(() => requireReadable([], [closed])).not.toThrow()
})

it('takes the users that are named, and none if they are off', async () => {
  const users = { first: 70_000, last: 70_099 }
  const of = (graphsUsers: typeof users | 'off') =>
    findUsers({ graphsUsers, dataDirectory: '/nowhere' }, virtualEnv())()
  expect(await of(users)).toEqual(users)
  expect(await of('off')).toBeUndefined()
})

it.runIf(process.getuid?.() === 0)(
  'lets code run as root with one warning if other users cannot reach the data directory',
  async () => {
    const dataDirectory = join(await folderOf(0o700), 'data')
    const warn = vi.fn<() => void>()
    const env = virtualEnv()
    const find = findUsers({ graphsUsers: undefined, dataDirectory }, { log: { ...env.log, warn } })
    expect(await find()).toBeUndefined()
    expect(await find()).toBeUndefined()
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^The code of deployments runs as root, /),
      { reason: expect.stringContaining('Other users cannot read /tmp/') as string },
    )
  },
)
