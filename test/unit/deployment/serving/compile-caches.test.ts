/** The folders of compiled code: whose they are, and what is left when their user changes. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, lchown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { CompileCaches } from '../../../../src/deployment/serving/compile-caches.ts'
import type { UserRange } from '../../../../src/settings/index.ts'
import { usersOfTest } from '../../../support/os-users.ts'

async function folderOfTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-compiled-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o711)
  return folder
}

const lacksUser = () => {}

it('Without users of their own, deployments have folders of this process.', async () => {
  const directory = join(await folderOfTest(), 'compiled')
  const caches = new CompileCaches({ directory, lacksUser })
  expect(await caches.hold('a')).toMatchObject({ folder: join(directory, 'a'), user: undefined })
  await caches.hold('b')
  await caches.keep(new Set(['b']))
  expect([existsSync(join(directory, 'a')), existsSync(join(directory, 'b'))])
    .toEqual([false, true])
})

const found = usersOfTest()

/** Only root may start processes of other users. */
describe.skipIf(found === undefined)('with users of their own', () => {
  const { first } = found!
  const users: UserRange = { first, last: first + 1 }
  const other = first + 2
  const one: UserRange = { first: other, last: other }

  it('a deployment keeps its user over a restart, and nobody else can look into its folder',
    async () => {
      const directory = await folderOfTest()
      const before = new CompileCaches({ directory, users: async () => users, lacksUser })
      const [a, b] = [await before.hold('a'), await before.hold('b')]
      expect([a.user, b.user]).toEqual([first, first + 1])
      await writeFile(join(b.folder, 'compiled'), '')
      const after = new CompileCaches({ directory, users: async () => users, lacksUser })
      expect((await after.hold('b')).user).toBe(first + 1)
      expect(existsSync(join(b.folder, 'compiled'))).toBe(true)
      const { uid, gid, mode } = await stat(b.folder)
      expect([uid, gid, mode & 0o777]).toEqual([first + 1, first + 1, 0o700])
      expect((await stat(directory)).mode & 0o777).toBe(0o711)
    })

  it('nothing is left of a user that goes to another deployment: processes, files, links',
    async () => {
      const [directory, elsewhere] = [await folderOfTest(), await folderOfTest()]
      await writeFile(join(elsewhere, 'kept'), '')
      const caches = new CompileCaches({ directory, users: async () => one, lacksUser })
      const former = await caches.hold('former')
      const left = spawn('sleep', ['1000'], { uid: other, gid: other, stdio: 'ignore' })
      const ended = once(left, 'close')
      const inner = join(former.folder, 'closed')
      await mkdir(inner)
      await symlink(elsewhere, join(inner, 'link'))
      for (const path of [join(inner, 'link'), inner]) await lchown(path, other, other)
      await chmod(inner, 0)
      former.release()
      const next = await caches.hold('next')
      expect(next.user).toBe(other)
      expect(await ended).toEqual([null, 'SIGKILL'])
      expect([existsSync(former.folder), existsSync(join(elsewhere, 'kept'))])
        .toEqual([false, true])
    })

  it('a folder of another user is emptied before its deployment uses it', async () => {
    const directory = await folderOfTest()
    const { folder } = await new CompileCaches({ directory, users: async () => users, lacksUser })
      .hold('a')
    await writeFile(join(folder, 'planted'), '')
    await lchown(join(folder, 'planted'), first, first)
    const later = new CompileCaches({ directory, users: async () => one, lacksUser })
    expect((await later.hold('a')).user).toBe(other)
    expect(existsSync(join(folder, 'planted'))).toBe(false)
  })

  it('a deployment without a user is refused, and an idle process is asked for', async () => {
    const directory = await folderOfTest()
    let asked = 0
    const caches = new CompileCaches({ directory, users: async () => one,
      lacksUser: () => asked++ })
    const { release } = await caches.hold('a')
    await expect(caches.hold('b')).rejects
      .toMatchObject({ code: 'full', message: expect.stringContaining('--graphs-users') as string })
    expect(asked).toBe(1)
    release()
    release()
    expect((await caches.hold('b')).user).toBe(other)
  })

  it('folders of deployments that are gone are removed', async () => {
    const directory = await folderOfTest()
    const caches = new CompileCaches({ directory, users: async () => users, lacksUser })
    const { folder, release } = await caches.hold('a')
    await writeFile(join(folder, 'compiled'), '')
    release()
    await caches.keep(new Set())
    expect(existsSync(folder)).toBe(false)
    expect((await caches.hold('a')).user).toBe(first)
    expect(existsSync(folder)).toBe(true)
  })
})
