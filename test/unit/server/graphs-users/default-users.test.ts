/** Users that a server of root chooses for the code of its deployments. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { blockLocks } from '../../../../src/server/graphs-users/block-lock.ts'
import { blocksFor, findUsers,
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

describe.runIf(process.getuid?.() === 0)('The lock of a block', () => {
  it('is given to one server of a machine at a time', async () => {
    const folder = join(await folderOf(0o755), 'locks')
    const [one, other] = [blockLocks(folder), blockLocks(folder)]
    expect([one(80_000), other(80_000), other(80_100)]).toEqual([true, false, true])
  })

  it('is released when the process of its server is killed', async () => {
    const folder = join(await folderOf(0o755), 'locks')
    const child = fork(new URL('./locking-process.ts', import.meta.url), [folder, '80000'])
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'message')
    const lock = blockLocks(folder)
    expect(lock(80_000)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(lock(80_000)).toBe(true)
  })

  it('is in a folder that only root can write', async () => {
    const open = await folderOf(0o777)
    expect(() => blockLocks(open)).toThrow(`Others than root can write to ${open}: remove it.`)
    const foreign = await folderOf(0o700)
    await chown(foreign, 65_534, 65_534)
    expect(() => blockLocks(foreign)).toThrow(/Others than root can write/)
    const link = join(await folderOf(0o700), 'link')
    await symlink('/root', link)
    expect(() => blockLocks(link)).toThrow(/Others than root can write/)
  })
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
